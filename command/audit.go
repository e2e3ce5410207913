package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
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

// auditor is who reads the record, as flags say it.
type auditor struct {
	as, tenant string
	permission string // beside that for reading; empty: none
	unattended bool   // the command shows no entries, and may run where nobody is
}

func (a *auditor) flags(c *cobra.Command) {
	addAs(c, &a.as)
	c.Flags().StringVar(&a.tenant, "tenant", "", "`TENANT` whose record it is (default: that of the person)")
}

// auditing is the log of the application, and who does something with the entries
// of a tenant.
type auditing struct {
	log     *audit.Log
	person  *ambit.Principal
	tenant  string
	warning string // what they are told before they remove any, see Options.takenAtTheirWord
}

// withAudit does something with the log of the application on behalf of a person
// who may.
func (p Program) withAudit(c *cobra.Command, who auditor, do func(ctx context.Context, a auditing) error) error {
	return p.open(c, func(app *ambit.App, options Options) error {
		if options.Audit == nil {
			return misused(c, errors.New("this program keeps no audit record, or does not show it on its command line"))
		}
		if who.unattended {
			options.Prove = nil
		}
		person, err := options.human(c, who.as)
		if err != nil {
			return err
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
		return do(c.Context(), auditing{options.Audit, person, tenant, options.takenAtTheirWord(person)})
	})
}

// auditFilter is what entries have to have, as flags say it.
type auditFilter struct {
	entries      audit.Query
	since, until string
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.entries.Kind, "kind", "", "`KIND` of entry: "+strings.Join(audit.Kinds(), ", "))
	c.Flags().StringVar(&f.entries.Principal, "principal", "", "`KEY` of the principal, as whoami writes it")
	c.Flags().StringVar(&f.entries.Capability, "capability", "", "`NAME` of the capability")
	c.Flags().StringVar(&f.entries.Call, "call", "", "`ID` of the call")
	c.Flags().StringVar(&f.entries.Run, "run", "", "`ID` of the run")
	c.Flags().StringVar(&f.entries.Proposal, "proposal", "", "`ID` of the proposal")
	c.Flags().StringVar(&f.since, "since", "", "from this `TIME` on, such as 2026-12-01, 2026-12-01T08:30:00Z, or 24h or 7d ago")
	c.Flags().StringVar(&f.until, "until", "", "up to this `TIME`")
}

// query returns what the flags ask for of a tenant. What no entry can have is
// refused: an empty answer would say that nothing of the kind has happened.
func (f *auditFilter) query(tenant string) (audit.Query, error) {
	q, now := f.entries, time.Now()
	if q.Kind != "" && !slices.Contains(audit.Kinds(), q.Kind) {
		return q, fmt.Errorf("--kind: %q is no kind of entry, which are %s", q.Kind, strings.Join(audit.Kinds(), ", "))
	}
	if _, _, _, ok := principalkey.Split(q.Principal); !ok && q.Principal != "" {
		return q, fmt.Errorf("--principal: %q is no key of a principal such as 0:/6:apikey/robot, which whoami writes", q.Principal)
	}
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
