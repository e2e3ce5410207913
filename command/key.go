package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// keyCommand holds the commands that care for API keys.
func (p Program) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Make, list and end API keys",
		Long: "Make, list and end API keys. Servers that use the same store of keys see what is changed within 30 seconds.\n\n" +
			"Whatever changes a key takes a person at a terminal.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return misused(c, errors.New("what to do with keys is missing: create, list, expire, rotate or revoke"))
		},
	}
	c.AddCommand(p.keyCreateCommand(), p.keyListCommand(), p.keyExpireCommand(), p.keyRotateCommand(), p.keyRevokeCommand())
	return c
}

func (p Program) keyCreateCommand() *cobra.Command {
	var record apikey.Record
	var owners []string
	var expires lifetime
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key, shown this one time",
		Long: "Make an API key and show it this one time, in the first line of standard output. What is kept is its hash.\n\n" +
			"An application without a store of keys is only asked whether it has one: then the second line is the key's\n" +
			"entry for a file of keys, {\"keys\": [ENTRY, ...]}, and nothing is written anywhere.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			record.Name = args[0]
			record.Created = time.Now().UTC().Truncate(time.Second)
			record.Expires = expires.from(record.Created)
			return p.createKey(c, record, owners)
		},
	}
	c.Flags().StringVar(&record.Subject, "subject", "", "`SUBJECT` that the key stands for (default: NAME)")
	c.Flags().StringVar(&record.Kind, "kind", "", "`KIND` of caller: user, service or agent (default: user)")
	c.Flags().StringVar(&record.Tenant, "tenant", "", "`TENANT` of the caller (default: the one without a name)")
	c.Flags().StringArrayVar(&record.Permissions, "permission", nil, "`PERMISSION` of the caller; may be repeated")
	c.Flags().StringArrayVar(&record.Roles, "role", nil, "`ROLE` of the caller; may be repeated")
	c.Flags().StringArrayVar(&record.Scopes, "scope", nil, "`SCOPE` that the key is limited to; may be repeated (default: it is not limited)")
	c.Flags().StringArrayVar(&owners, "owner", nil, "`OWNER`, a person who stands behind the key: the name of their own API key, or their key as whoami writes it; may be repeated")
	c.Flags().Var(&expires, "expires", "let the key expire after this `TIME`, such as 90d or 12h (default: never)")
	return c
}

// createKey makes a key of its record, which lacks the hash and who stands behind it.
func (p Program) createKey(c *cobra.Command, record apikey.Record, owners []string) error {
	secret := apikey.Generate()
	record.Hash = apikey.Hash(secret)
	if err := record.Check(); err != nil {
		return misused(c, err)
	}
	return p.open(c, func(app *ambit.App, options Options) (err error) {
		if record.Behind, err = behind(c, options.Keys, owners); err != nil {
			return err
		}
		if options.Keys == nil {
			if record.Permissions == nil {
				record.Permissions = []string{} // to be filled in
			}
			warnUntaken(c.ErrOrStderr(), app, record)
			return printKey(c, secret, record)
		}
		if _, err := personAt(c, changingKeys); err != nil {
			return err
		}
		if err := options.Keys.Add(c.Context(), record); err != nil {
			return keyFailure(record.Name, err)
		}
		warnUntaken(c.ErrOrStderr(), app, record)
		return showKey(c, secret, record)
	})
}

// printKey writes a key and its entry for a file.
func printKey(c *cobra.Command, secret string, record apikey.Record) error {
	entry, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n%s\n", secret, visible.JSON(entry))
	return err
}

// showKey writes a key that is kept from now on as a hash, and beside it, for the
// person, what it stands for.
func showKey(c *cobra.Command, secret string, record apikey.Record) error {
	if _, err := fmt.Fprintln(c.OutOrStdout(), secret); err != nil {
		return fmt.Errorf("the key %q is made and could not be shown, so nobody has it: revoke it: %w", record.Name, err)
	}
	return writeKeyTable(c.ErrOrStderr(), time.Now(), record)
}

// withKey does something with the store of the application, in which there is a
// key of this name, once it is known that a person is there.
func (p Program) withKey(c *cobra.Command, name string, do func(ctx context.Context, store apikey.Store, record apikey.Record) error) error {
	return p.withKeys(c, func(store apikey.Store) error {
		if _, err := personAt(c, changingKeys); err != nil {
			return err
		}
		record, err := findKey(c.Context(), store, name)
		if err != nil {
			return err
		}
		return do(c.Context(), store, record)
	})
}

// withKeys does something with the store of the application.
func (p Program) withKeys(c *cobra.Command, do func(apikey.Store) error) error {
	return p.open(c, func(_ *ambit.App, options Options) error {
		if options.Keys == nil {
			return withoutOption("This program keeps no API keys in a store.", "Keys")
		}
		return do(options.Keys)
	})
}

func findKey(ctx context.Context, store apikey.Store, name string) (apikey.Record, error) {
	record, found, err := store.ByName(ctx, name)
	if err == nil && !found {
		err = apikey.ErrUnknown
	}
	return record, keyFailure(name, err)
}

// changingKeys is what takes a person: who may come in is not for a program to say
// that somebody else has started.
const changingKeys = "Changing API keys takes a person"

// keyFailure is the error of a store in the form that commands have.
func keyFailure(name string, err error) error {
	switch {
	case errors.Is(err, apikey.ErrUnknown):
		return ambit.Errorf(ambit.CodeNotFound, "There is no key %q.", name).WithHint("The command \"key list\" shows those that there are.")
	case errors.Is(err, apikey.ErrExists):
		return ambit.Errorf(ambit.CodeConflict, "There is a key %q already.", name).WithHint("Choose another name: that of a key is never used again.")
	case errors.Is(err, apikey.ErrEnded):
		return ambit.Errorf(ambit.CodeConflict, "The key %q is not valid any more, and nothing may follow it.", name).WithHint("Make a new key.")
	}
	return err
}
