package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/trust/audit"
)

// readsAudit completes a command that does something with the entries that its
// flags ask for.
func (p Program) readsAudit(c *cobra.Command, do func(ctx context.Context, c *cobra.Command, log *audit.Log, query audit.Query) error) *cobra.Command {
	var who auditor
	var filter auditFilter
	c.Args = arguments(0, 0)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return p.withAudit(c, who, func(ctx context.Context, a auditing) error {
			query, err := filter.query(a.tenant)
			if err != nil {
				return misused(c, err)
			}
			return do(ctx, c, a.log, query)
		})
	}
	who.flags(c)
	filter.flags(c)
	return c
}

func (p Program) auditTailCommand() *cobra.Command {
	var last int
	var asJSON bool
	c := p.readsAudit(&cobra.Command{
		Use:   "tail",
		Short: "Write the newest entries, and each that is added",
		Long: "Write the newest entries, one in a line, and then each that is added, until the command is interrupted. With\n" +
			"--json a line has all of its entry.",
	}, func(ctx context.Context, c *cobra.Command, log *audit.Log, query audit.Query) error {
		err := log.Follow(ctx, query, last, entryWriter(c.OutOrStdout(), asJSON))
		if ctx.Err() != nil {
			return nil // it was interrupted, as it is meant to be
		}
		return err
	})
	c.Flags().IntVarP(&last, "lines", "n", 10, "how many of the newest entries to begin with, at most 1,000: `N`")
	addLinesOfJSON(c, &asJSON)
	return c
}

func (p Program) auditSearchCommand() *cobra.Command {
	var limit int
	var newest, asJSON bool
	var after string
	c := p.readsAudit(&cobra.Command{
		Use:   "search",
		Short: "Write the entries that have what the flags say",
		Long: "Write the entries that have all that the flags say, oldest first, one in a line. With --json a line has all of its\n" +
			"entry. Where there are more, the last line on standard error says how to go on.",
	}, func(ctx context.Context, c *cobra.Command, log *audit.Log, query audit.Query) error {
		if limit < 1 || limit > 1000 {
			return misused(c, fmt.Errorf("--limit %d is not from 1 to 1000", limit))
		}
		query.Limit, query.Newest, query.After = limit, newest, after
		page, next, err := log.Entries(ctx, query)
		if err != nil {
			return err
		}
		write := entryWriter(c.OutOrStdout(), asJSON)
		for _, e := range page {
			if err := write(e); err != nil {
				return err
			}
		}
		if len(page) == 0 && next == "" {
			_, err = fmt.Fprintln(c.ErrOrStderr(), "there is no entry that has all that was asked for")
		}
		return errors.Join(err, writeNext(c, next))
	})
	c.Flags().IntVar(&limit, "limit", 100, "how many entries to write at most, up to 1,000: `N`")
	c.Flags().BoolVar(&newest, "newest", false, "begin with the newest")
	c.Flags().StringVar(&after, "after", "", "go on behind this `CURSOR`")
	addLinesOfJSON(c, &asJSON)
	return c
}

func addLinesOfJSON(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "write lines of JSON, with all that an entry says")
}

func (p Program) auditExportCommand() *cobra.Command {
	return p.readsAudit(&cobra.Command{
		Use:   "export",
		Short: "Write all entries",
		Long: "Write all entries, or those that have what the flags say, oldest first, as lines of JSON. Where standard output\n" +
			"is no terminal they are to the byte what was written, so that they can be verified elsewhere.",
	}, func(ctx context.Context, c *cobra.Command, log *audit.Log, query audit.Query) error {
		return exportEntries(ctx, c.OutOrStdout(), log, query)
	})
}

// exportEntries writes all pages of a query.
func exportEntries(ctx context.Context, w io.Writer, log *audit.Log, query audit.Query) error {
	write := entryWriter(w, true)
	if !isTerminal(w) {
		write = func(e audit.Entry) error {
			_, err := w.Write(append(e.AppendJSON(nil), '\n'))
			return err
		}
	}
	query.Limit = 1000
	for {
		page, next, err := log.Entries(ctx, query)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := write(e); err != nil {
				return err
			}
		}
		if query.After = next; next == "" {
			return nil
		}
	}
}
