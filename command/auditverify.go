package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/plural"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/audit"
)

func (p Program) auditVerifyCommand() *cobra.Command {
	who := auditor{unattended: true}
	var file string
	var all bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Find out whether the record is as it was written",
		Long: "Read the whole record and find what was altered, reordered, removed, cut off or written anew. The report is a\n" +
			"line of JSON for each tenant; where something was found the command fails.\n\n" +
			"Checkpoints come from where the application keeps them, or from FILE. Without them nobody can tell whether the\n" +
			"end of the record is there.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if all && c.Flags().Changed("tenant") {
				return misused(c, errors.New("--tenant and --all-tenants exclude each other"))
			}
			return p.withAudit(c, who, func(ctx context.Context, a auditing) error {
				checkpoints, err := readCheckpoints(ctx, a.log, file)
				if err != nil {
					return err
				}
				tenants := []string{a.tenant}
				if all {
					if tenants, err = auditTenants(ctx, a.log, checkpoints); err != nil {
						return err
					}
				}
				return verifyTenants(ctx, c, a.log, tenants, checkpoints)
			})
		},
	}
	who.flags(c)
	c.Flags().BoolVar(&all, "all-tenants", false, "verify the records of all tenants, which takes "+PermissionAuditTenants+" too")
	addCheckpoints(c, &file)
	return c
}

// verifyTenants writes the reports, and fails where something was found.
func verifyTenants(ctx context.Context, c *cobra.Command, log *audit.Log, tenants []string, checkpoints []audit.Checkpoint) error {
	findings, hint := 0, ""
	for _, tenant := range tenants {
		report, err := log.Verify(ctx, tenant, checkpoints)
		if err != nil {
			return err
		}
		findings += len(report.Findings)
		hint = cmp.Or(hint, report.Hint)
		text, err := json.Marshal(report)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", visible.JSON(text)); err != nil {
			return err
		}
		if report.Checkpoints == 0 && report.Chains > 0 {
			_, _ = fmt.Fprintf(c.ErrOrStderr(), "no checkpoint of tenant \"%s\": whether the end of its record is there, nobody can tell\n", visible.Text(tenant))
		}
	}
	if findings > 0 {
		return ambit.Errorf(ambit.CodeConflict, "The audit record is not as it was written: %s.", plural.Of(findings, "finding")).WithHint(hint)
	}
	return nil
}

// auditTenants returns the tenants that have a record or once had one.
func auditTenants(ctx context.Context, log *audit.Log, checkpoints []audit.Checkpoint) ([]string, error) {
	tenants, err := log.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range checkpoints {
		tenants = append(tenants, c.Tenant)
	}
	slices.Sort(tenants)
	return slices.Compact(tenants), nil
}

func addCheckpoints(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "checkpoints", "", "`FILE` with checkpoints (default: those that the application keeps)")
}

// readCheckpoints returns those of a file, or those that the application keeps.
func readCheckpoints(ctx context.Context, log *audit.Log, path string) ([]audit.Checkpoint, error) {
	if path == "" {
		return log.Checkpoints(ctx)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	defer func() { _ = file.Close() }()
	return audit.ReadCheckpoints(file)
}
