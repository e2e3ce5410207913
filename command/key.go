package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// keyCommand does not open the application: it makes a key, which opens nothing
// until a person has put its entry into the file that the application reads.
func (p Program) keyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Make an API key, shown this one time",
		Long: "Make an API key and show it this one time, in the first line of standard output. The second line is its entry\n" +
			"for a file of keys, {\"keys\": [ENTRY, ...]}, which holds the key's hash: add what the caller may do.\n\n" +
			"Nothing is written anywhere else, and the application is not asked.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" {
				return misused(c, errors.New("the NAME of the key is empty"))
			}
			key := apikey.Generate()
			entry, err := json.Marshal(keyEntry{Name: args[0], Hash: apikey.Hash(key), Permissions: []string{}})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n%s\n", key, visible.JSON(entry))
			return err
		},
	}
}

// keyEntry is an entry of the file that apikey.OpenFile reads.
type keyEntry struct {
	Name        string   `json:"name"`
	Hash        string   `json:"hash"`
	Permissions []string `json:"permissions"`
}
