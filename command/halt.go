package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// haltCommand does not open the application where it is told the halt file: it
// must work when that cannot.
func (p Program) haltCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "halt {all | changes | agents | principal KEY | tenant NAME | capability NAME}...",
		Short: "Stop calls on every instance that obeys the halt file",
		Long: "Stop calls within a second on every instance that obeys the halt file; calls under way are canceled.\n\n" +
			"What is stopped already stays stopped. Names are taken as they are given: the application is not asked.\n" +
			"KEY is what whoami writes: LEN:TENANT/LEN:AUTHORITY/SUBJECT, each LEN in bytes.",
		Args: arguments(1, 1<<10),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := parseHalts(args)
			if err != nil {
				return misused(c, err)
			}
			path, err := p.requireHaltFile(c)
			if err != nil {
				return err
			}
			if list, err = extendHaltFile(c.Context(), path, list); err != nil {
				return fmt.Errorf("nothing was halted: %w", err)
			}
			return writeHaltTable(c.OutOrStdout(), list)
		},
	}
	addHaltFile(c)
	return c
}

func (p Program) haltsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "halts",
		Short: "Show what the halt file stops",
		Long:  "Show what the halt file stops. What other forms of the switch stop, each instance alone knows.",
		Args:  arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := p.requireHaltFile(c)
			if err != nil {
				return err
			}
			list, misread, err := readHaltFile(c.Context(), path)
			if err != nil {
				return err
			}
			writeMisread(c.ErrOrStderr(), path, misread)
			return writeHaltTable(c.OutOrStdout(), list)
		},
	}
	addHaltFile(c)
	return c
}

func (p Program) resumeCommand() *cobra.Command {
	var form string
	c := &cobra.Command{
		Use:   "resume --form file",
		Short: "Release one form of the halt switch",
		Long: "Release the form \"file\" of the halt switch by removing the halt file. What other forms stop stays stopped.\n\n" +
			"Only a person does that: it shows on the terminal what would be released, and asks.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			switch form {
			case fileForm:
			case "":
				return misused(c, errors.New("which form to release is missing: --form file"))
			default:
				return misused(c, fmt.Errorf("the form %q is not released from here; each is where it was set", form))
			}
			path, err := p.requireHaltFile(c)
			if err != nil {
				return err
			}
			return resumeFile(c, path)
		},
	}
	c.Flags().StringVar(&form, "form", "", "`FORM` of the switch to release: file")
	addHaltFile(c)
	return c
}

// fileForm is the form of the switch that ambit.HaltFile is.
const fileForm = "file"

// resumeFile removes a halt file if the person at the terminal says so.
func resumeFile(c *cobra.Command, path string) error {
	list, misread, err := readHaltFile(c.Context(), path)
	if err != nil || len(list) == 0 {
		return err
	}
	person := newConsole(c.InOrStdin(), c.ErrOrStderr(), nil)
	if person == nil {
		return &ambit.Error{
			Code: ambit.CodeDeclined, Message: "A person has to say that calls may go on, and there is no terminal to ask on.",
			Hint: "Run the command on a terminal.",
		}
	}
	writeMisread(c.ErrOrStderr(), path, misread)
	if err := writeHaltTable(c.ErrOrStderr(), list); err != nil {
		return err
	}
	line, err := person.ask(c.Context(), "Release this? [y]es / [n]o: ")
	if err != nil {
		return err
	}
	if !says(line, "y", "yes") {
		return &ambit.Error{Code: ambit.CodeDeclined, Message: "The person who was asked said no.", Hint: "Calls stay stopped."}
	}
	return removeHaltFile(c.Context(), path, list)
}

// writeHaltTable shows what is stopped.
func writeHaltTable(w io.Writer, list []ambit.Halt) error {
	rows := [][]string{{"FORM", "STOPS"}}
	for _, h := range list {
		rows = append(rows, []string{fileForm, h.String()})
	}
	return columns(w, rows)
}

// writeMisread says why a halt file stops everything, if that is because of what
// could not be read. It ignores errors: what is stopped is shown all the same.
func writeMisread(w io.Writer, path string, misread *ambit.MisreadHalts) {
	if misread == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "%s stops everything, because not all of it can be read:\n", visible.Text(path))
	for _, fault := range misread.Faults {
		_, _ = fmt.Fprintf(w, "  %s\n", visible.Text(strings.Replace(fault.Error(), "ambit: ", "", 1)))
	}
}
