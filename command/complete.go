package command

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// completeName offers a shell the names that may be called, for the scripts that
// the completion command writes. It opens the application; where that fails, or
// where --as is not given yet and must be, it has nothing to offer.
func (p Program) completeName(c *cobra.Command, args []string, typed string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // an INPUT may be a file
	}
	as := c.Flag("as").Value.String()
	_ = p.run(func(c *cobra.Command, _ []string, app *ambit.App, options Options) error {
		principal, err := options.principal(c.Context(), as)
		if err != nil {
			return err
		}
		list, err := listing(c.Context(), app, principal)
		if err != nil {
			return err
		}
		var entries []struct{ Name, Description string }
		if err := json.Unmarshal(list, &entries); err != nil {
			return err
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name, typed) {
				offers = append(offers, cobra.CompletionWithDesc(entry.Name, visible.Text(entry.Description)))
			}
		}
		return nil
	})(c, nil)
	return offers, cobra.ShellCompDirectiveNoFileComp
}
