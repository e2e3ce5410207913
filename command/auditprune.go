package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/visible"
)

func (p Program) auditPruneCommand() *cobra.Command {
	who := auditor{permission: PermissionPruneAudit}
	var before, file string
	c := &cobra.Command{
		Use:   "prune --before TIME",
		Short: "Remove entries that are old enough",
		Long: "Remove the entries that are older than a time, for ever, and leave a signed cut in their place. It verifies the\n" +
			"record first, and removes nothing where something is wrong with it.\n\n" +
			"Only a person does that, who holds " + PermissionPruneAudit + " too: it says on the terminal what would be removed, and asks.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := timeOf(before, time.Now())
			switch {
			case before == "":
				return misused(c, errors.New("up to when to remove entries is missing: --before TIME"))
			case err != nil:
				return misused(c, fmt.Errorf("--before: %w", err))
			}
			return p.withAudit(c, who, func(ctx context.Context, a auditing) error {
				checkpoints, err := readCheckpoints(ctx, a.log, file)
				if err != nil {
					return err
				}
				if err := askToPrune(c, a, at); err != nil {
					return err
				}
				removed, err := a.log.Prune(ctx, a.person, a.tenant, at, checkpoints)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "{\"removed\":%d}\n", removed)
				return err
			})
		},
	}
	who.flags(c)
	c.Flags().StringVar(&before, "before", "", "remove what is older than this `TIME`, such as 2026-12-01, or 365d ago")
	addCheckpoints(c, &file)
	return c
}

// askToPrune asks the person at the terminal.
func askToPrune(c *cobra.Command, a auditing, before time.Time) error {
	person, err := personAt(c, "Removing entries takes a person")
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Remove all entries of tenant \"%s\" before %s, for ever?", visible.Text(a.tenant), before.Format(time.RFC3339))
	return person.agree(c.Context(), a.warning+question, "Nothing was removed.")
}
