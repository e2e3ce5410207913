package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

func (p Program) whoamiCommand() *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "whoami",
		Short: "Write the principal's key",
		Long: "Write the key of the principal on whose behalf the command line works, in one line. It is the KEY of\n" +
			"\"halt principal KEY\", and what stores and limits know the principal by.",
		Args: arguments(0, 0),
		RunE: p.run(func(c *cobra.Command, _ []string, _ *ambit.App, options Options) error {
			principal, err := options.principal(c.Context(), as)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), visible.Text(principal.Key()))
			return err
		}),
	}
	addAs(c, &as)
	return c
}
