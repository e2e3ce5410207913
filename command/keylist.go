package command

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// keyPage is how many keys a store is asked for at a time.
const keyPage = 100

func (p Program) keyListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List API keys",
		Long:  "List the API keys of the application's store, those that have ended included: as a table, or as a JSON array.",
		Args:  arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withKeys(c, func(store apikey.Store) error {
				all, err := allKeys(c.Context(), store)
				if err != nil {
					return err
				}
				if asJSON {
					return writeKeys(c.OutOrStdout(), all)
				}
				return writeKeyTable(c.OutOrStdout(), time.Now(), all...)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write a JSON array, with all that is kept but the hashes")
	return c
}

// allKeys returns the keys of a store, those that have ended included.
func allKeys(ctx context.Context, store apikey.Store) (all []apikey.Record, err error) {
	for after := ""; ; after = all[len(all)-1].Name {
		page, err := store.List(ctx, after, keyPage)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < keyPage {
			return all, nil
		}
	}
}

// listedKey is one key in a listing for machines.
type listedKey struct {
	apikey.Record
	Hash  string `json:"hash,omitzero"` // hides the one of the record
	State string `json:"state"`
}

func writeKeys(w io.Writer, all []apikey.Record) error {
	list, now := make([]listedKey, 0, len(all)), time.Now()
	for _, r := range all {
		list = append(list, listedKey{Record: r, State: keyState(r, now)})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return writeJSON(w, text)
}

// writeKeyTable shows keys to a person.
func writeKeyTable(w io.Writer, now time.Time, keys ...apikey.Record) error {
	rows := [][]string{{"NAME", "STATE", "EXPIRES", "KIND", "SUBJECT", "TENANT", "PERMISSIONS", "ROLES", "SCOPES"}}
	for _, r := range keys {
		kind, subject, expires, scopes := r.Kind, r.Subject, "never", "any"
		if kind == "" {
			kind = "user"
		}
		if subject == "" {
			subject = r.Name
		}
		if !r.Expires.IsZero() {
			expires = r.Expires.UTC().Format(time.RFC3339)
		}
		if r.Scopes != nil {
			scopes = strings.Join(r.Scopes, ",")
		}
		rows = append(rows, []string{
			r.Name, keyState(r, now), expires, kind, subject, r.Tenant, strings.Join(r.Permissions, ","), strings.Join(r.Roles, ","), scopes,
		})
	}
	return columns(w, rows)
}

// keyState says in a word whether a key is valid.
func keyState(r apikey.Record, now time.Time) string {
	switch {
	case !r.Revoked.IsZero():
		return "revoked"
	case !r.Live(now):
		return "expired"
	}
	return "valid"
}
