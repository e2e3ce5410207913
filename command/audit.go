package command

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
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
			return withoutOption("This program keeps no audit record, or does not show it on its command line.", "Audit")
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
