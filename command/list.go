package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

func (p Program) listCommand() *cobra.Command {
	var as string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List what may be called",
		Long:  "List the capabilities that may be called from here: as a table, or as a JSON array with their schemas.",
		Args:  arguments(0, 0),
		RunE: p.run(func(c *cobra.Command, _ []string, app *ambit.App, options Options) error {
			principal, err := options.principal(c.Context(), as)
			if err != nil {
				return err
			}
			listed, err := listing(c.Context(), app, principal)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), listed)
			}
			return writeListing(c.OutOrStdout(), app, listed)
		}),
	}
	addAs(c, &as)
	c.Flags().BoolVar(&asJSON, "json", false, "write a JSON array, with schemas")
	return c
}

// renderListed writes the entry of one capability. Who starts the program may see what
// it answers, published or not.
func renderListed(contract ambit.AnyContract) ([]byte, error) {
	entry := ambit.ListingOf(contract)
	entry.Output = contract.Output().JSON()
	return json.Marshal(entry)
}

// listing returns what a principal may call from the command line, as a JSON
// array.
func listing(ctx context.Context, app *ambit.App, principal *ambit.Principal) ([]byte, error) {
	catalog, err := app.Catalog(ambit.CommandLine, renderListed)
	if err != nil {
		return nil, err
	}
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: principal, Surface: ambit.CommandLine})
	defer run.End()
	list := []byte{'['}
	for cursor, more := "", true; more; more = cursor != "" {
		if cursor != "" {
			list = append(list, ',')
		}
		if list, cursor, err = catalog.Page(ctx, run, list, cursor, 0); err != nil {
			return nil, err
		}
	}
	return append(list, ']'), nil
}

// writeListing writes the table for people, with the permission that each call takes,
// of which callers are not told.
func writeListing(w io.Writer, app *ambit.App, list []byte) error {
	var entries []struct{ Name, Effect, Description string }
	if err := json.Unmarshal(list, &entries); err != nil {
		return fmt.Errorf("reading the listing: %w", err)
	}
	permissions := make(map[string]string)
	for _, contract := range app.Capabilities() {
		permissions[contract.Name()] = contract.Spec().Permission
	}
	rows := [][]string{{"NAME", "EFFECT", "PERMISSION", "DESCRIPTION"}}
	for _, entry := range entries {
		rows = append(rows, []string{entry.Name, entry.Effect, permissions[entry.Name], entry.Description})
	}
	return columns(w, rows)
}

// writeJSON writes JSON text in one line, or laid out where a person looks on.
func writeJSON(w io.Writer, text []byte) error {
	if isTerminal(w) {
		text = indented(text)
	}
	_, err := fmt.Fprintf(w, "%s\n", visible.JSON(text))
	return err
}
