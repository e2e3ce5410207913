package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func (p Program) keyExpireCommand() *cobra.Command {
	var in lifetime
	c := &cobra.Command{
		Use:   "expire NAME --in TIME",
		Short: "Let an API key expire",
		Long:  "Let an API key expire after a time. The end of a key is never put off: rotate the key instead.",
		Args:  arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if in == 0 {
				return misused(c, errors.New("when the key is to expire is missing: --in TIME"))
			}
			return p.withKey(c, args[0], func(ctx context.Context, store apikey.Store, record apikey.Record) error {
				at := in.from(time.Now().UTC().Truncate(time.Second))
				if !record.Live(at) {
					return ambit.Errorf(ambit.CodeConflict, "The key %q ends earlier already, and the end of a key is not put off.", record.Name).
						WithHint("Rotate a key that is to go on.")
				}
				if err := store.Expire(ctx, record.Name, at); err != nil {
					return keyFailure(record.Name, err)
				}
				return showStored(c, store, record.Name)
			})
		},
	}
	c.Flags().Var(&in, "in", "`TIME` from now until the key expires, such as 24h or 7d")
	return c
}

func (p Program) keyRotateCommand() *cobra.Command {
	var overlap, expires lifetime
	c := &cobra.Command{
		Use:   "rotate NAME --overlap TIME",
		Short: "Make an API key that replaces another",
		Long: "Make an API key for the same caller and show it this one time, in the first line of standard output. The old\n" +
			"key expires after the overlap. The new one is called as the old one, with a number behind it.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if overlap == 0 {
				return misused(c, errors.New("how long the old key goes on is missing: --overlap TIME"))
			}
			return p.withKey(c, args[0], func(ctx context.Context, store apikey.Store, old apikey.Record) error {
				return rotateKey(c, store, old, overlap, expires)
			})
		},
	}
	c.Flags().Var(&overlap, "overlap", "`TIME` from now until the old key expires, such as 24h or 7d")
	c.Flags().Var(&expires, "expires", "let the new key expire after this `TIME` (default: after as long as the old one was made for)")
	return c
}

// rotateKey makes the key that follows another.
func rotateKey(c *cobra.Command, store apikey.Store, old apikey.Record, overlap, expires lifetime) error {
	secret, now := apikey.Generate(), time.Now().UTC().Truncate(time.Second)
	next := old
	next.Hash, next.Created, next.Replaces = apikey.Hash(secret), now, old.Name
	if next.Subject == "" {
		next.Subject = old.Name
	}
	switch {
	case expires != 0:
		next.Expires = expires.from(now)
	case !old.Expires.IsZero() && old.Created.IsZero():
		return misused(c, errors.New("when the new key is to expire is missing, and when the old one was made is not known: --expires TIME"))
	case !old.Expires.IsZero():
		next.Expires = now.Add(old.Expires.Sub(old.Created))
	}
	for base, number := numbered(old.Name); ; { // until a name is free
		number++
		next.Name = base + "." + strconv.Itoa(number)
		switch err := store.Replace(c.Context(), next, overlap.from(now)); {
		case err == nil:
			return showKey(c, secret, next)
		case !errors.Is(err, apikey.ErrExists):
			return keyFailure(old.Name, err)
		}
	}
}

// numbered takes the number off the name of a key that replaced another. A name
// without one is the first.
func numbered(name string) (base string, number int) {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 1 && strconv.Itoa(n) == name[i+1:] {
			return name[:i], n
		}
	}
	return name, 1
}

func (p Program) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take an API key back",
		Long: "Take an API key back, for ever. It shows on the terminal which one that is, and asks. Servers refuse the key\n" +
			"within 30 seconds.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withKey(c, args[0], func(ctx context.Context, store apikey.Store, record apikey.Record) error {
				if err := writeKeyTable(c.ErrOrStderr(), time.Now(), record); err != nil || !record.Revoked.IsZero() {
					return err
				}
				person, err := personAt(c, changingKeys)
				if err != nil {
					return err
				}
				if err := person.agree(ctx, "Revoke this key?", "The key stays as it is."); err != nil {
					return err
				}
				if err := store.Revoke(ctx, record.Name, time.Now().UTC().Truncate(time.Second)); err != nil {
					return keyFailure(record.Name, err)
				}
				return showStored(c, store, record.Name)
			})
		},
	}
}

// showStored shows a key as it is stored now.
func showStored(c *cobra.Command, store apikey.Store, name string) error {
	record, err := findKey(c.Context(), store, name)
	if err != nil {
		return err
	}
	return writeKeyTable(c.OutOrStdout(), time.Now(), record)
}

// lifetime is a time of a flag: Go's form of a duration, or days, as in "90d".
// Zero: it was not given.
type lifetime time.Duration

// maxLifetime keeps times within what all stores can hold.
const maxLifetime = 100 * 366 * 24 * time.Hour

// Set reads the text of a flag.
func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(min(n, 1<<16)) * 24 * time.Hour
	}
	switch {
	case err != nil:
		return fmt.Errorf("%q is no time such as 90d or 12h", text)
	case d < time.Second || d > maxLifetime:
		return fmt.Errorf("%q is not from a second to a hundred years", text)
	}
	*l = lifetime(d)
	return nil
}

// String returns the time in Go's form, "" for none, so that help shows no
// default.
func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Type names the kind of the flag's value.
func (l *lifetime) Type() string { return "time" }

// from returns the end of the time that begins then; the zero Time where none was
// given.
func (l *lifetime) from(begin time.Time) time.Time {
	if *l == 0 {
		return time.Time{}
	}
	return begin.Add(time.Duration(*l))
}
