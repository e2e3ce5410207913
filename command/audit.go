package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/audit"
)

// What a person has to hold for the audit record.
const (
	// PermissionReadAudit is for reading and verifying the record of the person's
	// own tenant.
	PermissionReadAudit = "audit:read"
	// PermissionPruneAudit is for removing entries, beside PermissionReadAudit.
	PermissionPruneAudit = "audit:prune"
	// PermissionAuditTenants is for the record of other tenants than the person's
	// own, beside the others.
	PermissionAuditTenants = "audit:tenants"
)

// auditCommand holds the commands that read the audit record and care for it.
func (p Program) auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify the audit record",
		Long: "Read and verify the audit record, on behalf of the person that --as names, who has to hold " + PermissionReadAudit + ".\n" +
			"It is that of the person's tenant; another takes " + PermissionAuditTenants + " too.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return misused(c, errors.New("what to do with the audit record is missing: tail, search, verify, export or prune"))
		},
	}
	c.AddCommand(p.auditTailCommand(), p.auditSearchCommand(), p.auditVerifyCommand(), p.auditExportCommand(), p.auditPruneCommand())
	return c
}

func (p Program) auditTailCommand() *cobra.Command {
	var who auditor
	var filter auditFilter
	var last int
	c := &cobra.Command{
		Use:   "tail",
		Short: "Write the newest entries, and each that is added",
		Long:  "Write the newest entries as lines of JSON, and then each that is added, until the command is interrupted.",
		Args:  arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAudit(c, who, func(ctx context.Context, log *audit.Log, _ *ambit.Principal, tenant string) error {
				query, err := filter.query(tenant)
				if err != nil {
					return misused(c, err)
				}
				err = log.Follow(ctx, query, last, func(e audit.Entry) error { return writeEntry(c.OutOrStdout(), e) })
				if ctx.Err() != nil {
					return nil // it was interrupted, as it is meant to be
				}
				return err
			})
		},
	}
	who.flags(c)
	filter.flags(c)
	c.Flags().IntVarP(&last, "lines", "n", 10, "how many of the newest entries to begin with, at most 1,000: `N`")
	return c
}

func (p Program) auditSearchCommand() *cobra.Command {
	var who auditor
	var filter auditFilter
	var limit int
	var newest bool
	var after string
	c := &cobra.Command{
		Use:   "search",
		Short: "Write the entries that have what the flags say",
		Long: "Write the entries that have all that the flags say, oldest first, as lines of JSON. Where there are more, the\n" +
			"last line on standard error says how to go on.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAudit(c, who, func(ctx context.Context, log *audit.Log, _ *ambit.Principal, tenant string) error {
				query, err := filter.query(tenant)
				if err != nil {
					return misused(c, err)
				}
				if limit < 1 || limit > 1000 {
					return misused(c, fmt.Errorf("--limit %d is not from 1 to 1000", limit))
				}
				query.Limit, query.Newest, query.After = limit, newest, after
				page, next, err := log.Entries(ctx, query)
				if err != nil {
					return err
				}
				for _, e := range page {
					if err := writeEntry(c.OutOrStdout(), e); err != nil {
						return err
					}
				}
				if next != "" {
					_, err = fmt.Fprintf(c.ErrOrStderr(), "there are more: go on with --after %s\n", visible.Text(next))
				}
				return err
			})
		},
	}
	who.flags(c)
	filter.flags(c)
	c.Flags().IntVar(&limit, "limit", 100, "how many entries to write at most, up to 1,000: `N`")
	c.Flags().BoolVar(&newest, "newest", false, "begin with the newest")
	c.Flags().StringVar(&after, "after", "", "go on behind this `CURSOR`")
	return c
}

func (p Program) auditExportCommand() *cobra.Command {
	var who auditor
	var filter auditFilter
	c := &cobra.Command{
		Use:   "export",
		Short: "Write all entries",
		Long: "Write all entries, or those that have what the flags say, oldest first, as lines of JSON. Where standard output\n" +
			"is no terminal they are to the byte what was written, so that they can be verified elsewhere.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAudit(c, who, func(ctx context.Context, log *audit.Log, _ *ambit.Principal, tenant string) error {
				query, err := filter.query(tenant)
				if err != nil {
					return misused(c, err)
				}
				return exportEntries(ctx, c.OutOrStdout(), log, query)
			})
		},
	}
	who.flags(c)
	filter.flags(c)
	return c
}

// exportEntries writes all pages of a query.
func exportEntries(ctx context.Context, w io.Writer, log *audit.Log, query audit.Query) error {
	write := writeEntry
	if !isTerminal(w) {
		write = func(w io.Writer, e audit.Entry) error {
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
			if err := write(w, e); err != nil {
				return err
			}
		}
		if query.After = next; next == "" {
			return nil
		}
	}
}

// writeEntry writes one entry as a line that is safe to show.
func writeEntry(w io.Writer, e audit.Entry) error {
	_, err := fmt.Fprintf(w, "%s\n", visible.JSON(e.AppendJSON(nil)))
	return err
}

// auditor is who reads the record, as flags say it.
type auditor struct {
	as, tenant string
	permission string // beside that for reading; empty: none
}

func (a *auditor) flags(c *cobra.Command) {
	addAs(c, &a.as)
	c.Flags().StringVar(&a.tenant, "tenant", "", "`TENANT` whose record it is (default: that of the person)")
}

// withAudit does something with the log of the application on behalf of a person
// who may.
func (p Program) withAudit(c *cobra.Command, who auditor, do func(ctx context.Context, log *audit.Log, person *ambit.Principal, tenant string) error) error {
	return p.open(c, func(app *ambit.App, options Options) error {
		if options.Audit == nil {
			return misused(c, errors.New("this application has no audit record for its command line: the program gives it by command.Options.Audit"))
		}
		person, err := options.principal(c.Context(), who.as)
		if err != nil {
			return err
		}
		if person.Kind != ambit.KindUser {
			return ambit.Errorf(ambit.CodeNotFound, "There is no audit record for callers of the kind %s.", person.Kind).
				WithHint("A person reads it: name one by --as.")
		}
		tenant, permissions := person.Tenant, []string{PermissionReadAudit}
		if who.permission != "" {
			permissions = append(permissions, who.permission)
		}
		if c.Flags().Changed("tenant") && who.tenant != tenant {
			tenant, permissions = who.tenant, append(permissions, PermissionAuditTenants)
		}
		if all := c.Flags().Lookup("all-tenants"); all != nil && all.Changed && !slices.Contains(permissions, PermissionAuditTenants) {
			permissions = append(permissions, PermissionAuditTenants)
		}
		for _, permission := range permissions {
			if err := app.Permits(c.Context(), person, permission); err != nil {
				if e, ok := errors.AsType[*ambit.Error](err); ok && e.Code == ambit.CodeForbidden {
					return ambit.Errorf(ambit.CodeForbidden, "This takes the permission %q.", permission)
				}
				return err
			}
		}
		return do(c.Context(), options.Audit, person, tenant)
	})
}

// auditFilter is what entries have to have, as flags say it.
type auditFilter struct {
	entries      audit.Query
	since, until string
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.entries.Kind, "kind", "", "`KIND` of entry: call, refusal, intent, outcome, proposal, decision, consent, gap or prune")
	c.Flags().StringVar(&f.entries.Principal, "principal", "", "`KEY` of the principal, as whoami writes it")
	c.Flags().StringVar(&f.entries.Capability, "capability", "", "`NAME` of the capability")
	c.Flags().StringVar(&f.entries.Call, "call", "", "`ID` of the call")
	c.Flags().StringVar(&f.entries.Run, "run", "", "`ID` of the run")
	c.Flags().StringVar(&f.entries.Proposal, "proposal", "", "`ID` of the proposal")
	c.Flags().StringVar(&f.since, "since", "", "from this `TIME` on, such as 2026-12-01, 2026-12-01T08:30:00Z, or 24h or 7d ago")
	c.Flags().StringVar(&f.until, "until", "", "up to this `TIME`")
}

// query returns what the flags ask for of a tenant.
func (f *auditFilter) query(tenant string) (audit.Query, error) {
	q, now := f.entries, time.Now()
	q.Tenant = tenant
	var err error
	if q.Since, err = timeOf(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = timeOf(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	return q, nil
}

// timeOf reads a date (its beginning, UTC), a time, or how long ago it was; the
// zero time of no text.
func timeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	var ago lifetime
	if err := ago.Set(text); err != nil {
		return time.Time{}, fmt.Errorf("%q is no time such as 2026-12-01, 2026-12-01T08:30:00Z, 24h or 7d", text)
	}
	return now.Add(-time.Duration(ago)).UTC(), nil
}
