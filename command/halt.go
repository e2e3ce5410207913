package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// haltCommand does not open the application where it is told the halt file: it
// must work when that cannot.
func (p Program) haltCommand() *cobra.Command {
	var form string
	c := &cobra.Command{
		Use:   "halt {all | changes | agents | principal KEY | tenant NAME | capability NAME}...",
		Short: "Stop calls on every instance that obeys the switch",
		Long: "Stop calls within a second on every instance that obeys the halt file, or the store of the application;\n" +
			"calls under way are canceled. Where there are both, --form says which.\n\n" +
			"What is stopped already stays stopped. Names are taken as they are given: a capability that the application does\n" +
			"not have is told of, unless a halt file is named, since the application is not opened then.\n" +
			"KEY is what whoami writes: LEN:TENANT/LEN:AUTHORITY/SUBJECT, each LEN in bytes.",
		Args: arguments(1, 1<<10),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := parseHalts(args)
			if err != nil {
				return misused(c, err)
			}
			return p.withSwitch(c, form, func(app *ambit.App, s ambit.HaltSwitch) error {
				if err := s.Halt(c.Context(), list...); err != nil {
					return err
				}
				stopped, _, err := readSwitch(c.Context(), s)
				if err != nil {
					return fmt.Errorf("it is halted, and what else is cannot be read: %w", err)
				}
				writeUnknownHalts(c.ErrOrStderr(), app, list)
				return writeHaltTable(c.OutOrStdout(), haltRows(s, stopped))
			})
		},
	}
	addForm(c, &form)
	return c
}

func (p Program) haltsCommand() *cobra.Command {
	var form string
	c := &cobra.Command{
		Use:   "halts",
		Short: "Show what the halt file or the store stops",
		Long:  "Show what the halt file or the store of the application stops. What other forms of the switch stop, each\ninstance alone knows.",
		Args:  arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withSwitches(c, form, func(_ *ambit.App, switches []ambit.HaltSwitch) error {
				var rows [][]string
				var unread []error
				for _, s := range switches {
					list, misread, err := readSwitch(c.Context(), s)
					if err != nil {
						unread = append(unread, fmt.Errorf("%s cannot be read: %w", haltPlace(s), err))
						continue
					}
					writeMisread(c.ErrOrStderr(), s, misread)
					rows = append(rows, haltRows(s, list)...)
				}
				return errors.Join(append(unread, writeHaltTable(c.OutOrStdout(), rows))...)
			})
		},
	}
	addForm(c, &form)
	return c
}

func (p Program) resumeCommand() *cobra.Command {
	var form string
	c := &cobra.Command{
		Use:   "resume --form FORM",
		Short: "Release one form of the halt switch",
		Long: "Release one form of the halt switch: \"file\" by removing the halt file, the store's by emptying it. What other\n" +
			"forms stop stays stopped.\n\n" +
			"Only a person does that: it shows on the terminal what would be released, and asks.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if form == "" {
				return misused(c, errors.New("which form to release is missing: --form FORM, as the command halts shows it"))
			}
			return p.withSwitch(c, form, func(_ *ambit.App, s ambit.HaltSwitch) error { return resume(c, s) })
		},
	}
	addForm(c, &form)
	return c
}

// resume releases a form if the person at the terminal says so.
func resume(c *cobra.Command, s ambit.HaltSwitch) error {
	list, misread, err := readSwitch(c.Context(), s)
	if err != nil || len(list) == 0 {
		return err
	}
	person, err := personAt(c, "A person has to say that calls may go on")
	if err != nil {
		return err
	}
	writeMisread(c.ErrOrStderr(), s, misread)
	if err := writeHaltTable(c.ErrOrStderr(), haltRows(s, list)); err != nil {
		return err
	}
	if err := person.agree(c.Context(), "Release this?", "Calls stay stopped."); err != nil {
		return err
	}
	return s.Resume(c.Context(), list)
}

// writeUnknownHalts names capabilities that are stopped and that the application, if it
// was opened, does not have. It ignores errors: what was asked for is stopped.
func writeUnknownHalts(w io.Writer, app *ambit.App, list []ambit.Halt) {
	if app == nil {
		return
	}
	contracts := app.Capabilities()
	for _, h := range list {
		if h.Kind == ambit.HaltCapability && !slices.ContainsFunc(contracts, func(c ambit.AnyContract) bool { return c.Name() == h.Of }) {
			_, _ = fmt.Fprintf(w, "this program has no capability %q, so that stops none of its own: the command list shows those that there are\n", visible.Text(h.Of))
		}
	}
}

// readSwitch returns what a form stops, and what of it means nothing and therefore
// stops everything.
func readSwitch(ctx context.Context, s ambit.HaltSwitch) (list []ambit.Halt, misread *ambit.MisreadHalts, err error) {
	list, err = s.Read(ctx)
	misread, ok := errors.AsType[*ambit.MisreadHalts](err)
	if !ok {
		return list, nil, err
	}
	if all := (ambit.Halt{Kind: ambit.HaltAll}); !slices.Contains(list, all) {
		list = append(list, all)
	}
	return list, misread, nil
}

// haltRows are the rows of a table of what is stopped.
func haltRows(s ambit.HaltSwitch, list []ambit.Halt) [][]string {
	rows := make([][]string, len(list))
	for i, h := range list {
		rows[i] = []string{s.Form(), h.String()}
	}
	return rows
}

func writeHaltTable(w io.Writer, rows [][]string) error {
	return columns(w, append([][]string{{"FORM", "STOPS"}}, rows...))
}

// haltPlace is what a person calls a form: a file by its path.
func haltPlace(s ambit.HaltSwitch) string {
	if file, ok := s.(haltFile); ok {
		return file.path
	}
	return "the form " + s.Form()
}

// writeMisread says why a form stops everything, if that is because of what
// could not be read. It ignores errors: what is stopped is shown all the same.
func writeMisread(w io.Writer, s ambit.HaltSwitch, misread *ambit.MisreadHalts) {
	if misread == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "%s stops everything, because not all of it can be read:\n", visible.Text(haltPlace(s)))
	for _, fault := range misread.Faults {
		_, _ = fmt.Fprintf(w, "  %s\n", visible.Text(strings.Replace(fault.Error(), "ambit: ", "", 1)))
	}
}
