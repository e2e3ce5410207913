package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

// approvalsKeygenCommand makes a review key. The application is not opened, since
// it may well wait for its key.
func approvalsKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key for what persons decide about",
		Long: "Make a review key. The half that opens proposals goes into FILE, which its owner alone can read and which must\n" +
			"not be there yet: it is for programs in which persons decide. The half that seals them goes to standard output:\n" +
			"it is for all others, such as those that serve agents. The application is not asked.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			seals, opens := ambit.NewReviewKey()
			if err := writeSecret(args[0], []byte(opens)); err != nil {
				return err
			}
			_, err := fmt.Fprintln(c.OutOrStdout(), seals)
			return err
		},
	}
}
