package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

func (p Program) callCommand() *cobra.Command {
	var as, input, reason string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "call CAPABILITY [INPUT]",
		Short: "Call a capability",
		Long: "Call a capability and write its output, which is JSON.\n\n" +
			"INPUT is JSON text, @FILE for the content of a file, or - for standard input. Without one it is {}.",
		Args:              arguments(1, 2),
		ValidArgsFunction: p.completeName,
		RunE: p.run(func(c *cobra.Command, args []string, app *ambit.App, options Options) error {
			if len(args) == 2 && c.Flags().Changed("input") {
				return misused(c, fmt.Errorf("there is an INPUT and an --input: give one of them"))
			}
			if len(args) == 2 {
				input = args[1]
			}
			text, err := readInput(c, input)
			if err != nil {
				return err
			}
			principal, err := options.principal(c.Context(), as)
			if err != nil {
				return err
			}
			ctx := c.Context()
			if timeout > 0 {
				bounded, cancel := context.WithTimeout(ctx, timeout)
				defer cancel()
				ctx = bounded
			}
			return callOnce(ctx, c, app, principal, ambit.Request{Name: args[0], Input: text, Reason: reason})
		}),
	}
	addAs(c, &as)
	c.Flags().StringVar(&input, "input", "", "`INPUT`, the same as the second argument")
	c.Flags().StringVar(&reason, "reason", "", "why the call is made, in a `LINE` for the record")
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this `DURATION`, such as 10s (default: the capability's own limit)")
	return c
}

// callOnce makes one call and writes what came of it.
func callOnce(ctx context.Context, c *cobra.Command, app *ambit.App, principal *ambit.Principal, request ambit.Request) error {
	options := ambit.RunOptions{Principal: principal, Surface: ambit.CommandLine}
	status := newStatusLine(c.ErrOrStderr())
	if status != nil {
		options.Log, request.Progress = status.log, status.progress
	}
	ctx, run := app.NewRun(ctx, options)
	defer run.End()
	result, err := run.Invoke(ctx, request)
	status.clear()
	if err != nil {
		return err
	}
	return writeJSON(c.OutOrStdout(), result.Output)
}

// readInput returns the JSON text that an INPUT stands for. How long it may be is
// for the capability to say.
func readInput(c *cobra.Command, input string) (text []byte, err error) {
	name, isFile := strings.CutPrefix(input, "@")
	switch {
	case isFile:
		text, err = os.ReadFile(name)
	case input == "-":
		text, err = io.ReadAll(c.InOrStdin())
	default:
		return []byte(input), nil
	}
	if err != nil {
		return nil, misused(c, fmt.Errorf("reading INPUT: %w", err))
	}
	return text, nil
}
