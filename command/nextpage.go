package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/visible"
)

// writeNext says on standard error how to go on with a listing behind a cursor. ""
// is its end, of which nothing is said.
func writeNext(c *cobra.Command, cursor string) error {
	if cursor == "" {
		return nil
	}
	_, err := fmt.Fprintf(c.ErrOrStderr(), "there are more: go on with --after %s\n", visible.Text(cursor))
	return err
}
