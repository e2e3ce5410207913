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

const (
	keyFlag          = "idempotency-key"
	confirmationFlag = "confirmation"
)

func (p Program) callCommand() *cobra.Command {
	var o callOptions
	c := &cobra.Command{
		Use:   "call CAPABILITY [INPUT]",
		Short: "Call a capability",
		Long: "Call a capability and write its output, which is JSON.\n\n" +
			"INPUT is JSON text, @FILE for the content of a file, or - for standard input. Without one it is {}.\n\n" +
			"A call that takes somebody's word is shown and asked about on the terminal.",
		Args:              arguments(1, 2),
		ValidArgsFunction: p.completeName,
		RunE: p.run(func(c *cobra.Command, args []string, app *ambit.App, options Options) error {
			if len(args) == 2 && c.Flags().Changed("input") {
				return misused(c, fmt.Errorf("there is an INPUT and an --input: give one of them"))
			}
			if len(args) == 2 {
				o.input = args[1]
			}
			if o.key == "" && c.Flags().Changed(keyFlag) {
				return misused(c, fmt.Errorf("the key of --%s is empty", keyFlag))
			}
			if o.confirmation == "" && c.Flags().Changed(confirmationFlag) {
				return misused(c, fmt.Errorf("the token of --%s is empty", confirmationFlag))
			}
			return o.call(c, args[0], app, options)
		}),
	}
	addAs(c, &o.as)
	addHaltFile(c)
	c.Flags().StringVar(&o.input, "input", "", "`INPUT`, the same as the second argument")
	c.Flags().StringVar(&o.reason, "reason", "", "why the call is made, in a `LINE` for the record")
	c.Flags().StringVar(&o.key, keyFlag, "", "a `KEY` of this call: repeated with it, the call gets its answer and does not run again")
	c.Flags().StringVar(&o.confirmation, confirmationFlag, "", "confirm the very same call, by the `TOKEN` that was given out for it")
	c.Flags().StringVar(&o.mode, "mode", "", "ask or block more than is configured: `MODE` plan, default, guarded or auto")
	c.Flags().BoolVar(&o.yes, "yes", false, "answer yes where the caller's own word is enough")
	c.Flags().DurationVar(&o.timeout, "timeout", 0, "give up after this `DURATION`, such as 10s (default: the capability's own limit)")
	return c
}

// callOptions are what the command line says of one call.
type callOptions struct {
	as, input, reason, mode, key, confirmation string

	yes     bool
	timeout time.Duration
}

// call makes the call and writes what came of it.
func (o callOptions) call(c *cobra.Command, name string, app *ambit.App, options Options) error {
	mode, failure := ambit.ParseMode(o.mode)
	if failure != nil {
		return failure
	}
	input, err := readInput(c, o.input)
	if err != nil {
		return err
	}
	principal, err := options.principal(c.Context(), o.as)
	if err != nil {
		return err
	}
	ctx := c.Context()
	if o.timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		ctx = bounded
	}
	status := newStatusLine(c.ErrOrStderr())
	run := ambit.RunOptions{Principal: principal, Surface: ambit.CommandLine, Prompter: prompterOf(c, status, o.input == "-", o.yes)}
	request := ambit.Request{Name: name, Input: input, Reason: o.reason, IdempotencyKey: o.key, Confirmation: o.confirmation}
	if status != nil {
		run.Log, request.Progress = status.log, status.progress
	}
	return watching(ctx, app, func() error {
		output, err := callOnce(ctx, app, run, mode, request)
		status.clear()
		if err != nil {
			return err
		}
		return writeJSON(c.OutOrStdout(), output)
	})
}

// callOnce makes one call in a run of its own. A mode that is stricter than the
// run's holds for the calls within the call too.
func callOnce(ctx context.Context, app *ambit.App, o ambit.RunOptions, mode ambit.Mode, request ambit.Request) ([]byte, error) {
	ctx, run := app.NewRun(ctx, o)
	defer run.End()
	if mode != ambit.ModeUnset && mode < run.Mode() {
		run.SetMode(mode)
	}
	result, err := run.Invoke(ctx, request)
	if err != nil {
		return nil, err
	}
	return result.Output, nil
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
