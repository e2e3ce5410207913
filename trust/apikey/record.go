package apikey

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ambit-dev/ambit"
)

// maxName is the most bytes that the name of a key may have.
const maxName = 200

// Record is what is kept of a key, as it stands in a file or a row: never the
// key itself. Its JSON form is an entry of a [File].
type Record struct {
	// Name is what the key is called in logs, errors and commands. It belongs to
	// this one key for ever: a key that replaces it has another. Required; at
	// most 200 bytes.
	Name string `json:"name" minLength:"1"`
	// Hash is the key's SHA-256 in lower-case hexadecimal digits, see [Hash].
	// Required. It counts as a secret, since the key itself may stand in its
	// place by mistake: no error repeats it.
	Hash string `json:"hash" secret:"true"`
	// Subject is the principal's. Empty: Name.
	Subject string `json:"subject,omitempty"`
	// Kind is the principal's: user, service or agent. Empty: user.
	Kind string `json:"kind,omitempty" enum:"user,service,agent"`
	// Tenant and Client are the principal's.
	Tenant string `json:"tenant,omitempty"`
	Client string `json:"client,omitempty"`
	// Permissions and Roles are the principal's.
	Permissions []string `json:"permissions,omitzero"`
	Roles       []string `json:"roles,omitzero"`
	// Scopes are what the key is limited to. Nil: it is not limited to scopes.
	// An empty list is a list, and a store has to keep the two apart.
	Scopes []string `json:"scopes,omitzero"`
	// Behind are the keys of the persons who stand behind the key, as its owner
	// does, see [ambit.Principal.Behind]. Empty: nobody else.
	Behind []string `json:"behind,omitzero"`
	// Created is when the key was made. Zero: nobody knows.
	Created time.Time `json:"created,omitzero"`
	// Expires is when the key stops being valid. Zero: never.
	Expires time.Time `json:"expires,omitzero"`
	// Revoked is when somebody took the key back. Zero: nobody did. Any other
	// time means that the key is not valid, even one that is yet to come.
	Revoked time.Time `json:"revoked,omitzero"`
	// Replaces is the name of the key that this one was made to follow. Empty:
	// none.
	Replaces string `json:"replaces,omitempty"`
}

// Check says what is wrong with a record by itself, nil for nothing. The text
// shows no hash. A [Store] checks what it is to add.
func (r Record) Check() error {
	key, err := r.key()
	if err == nil {
		_, err = key.entry()
	}
	if err != nil {
		return fmt.Errorf("key %q: %w", r.Name, err)
	}
	return nil
}

// Live reports whether the key is valid at a time: neither revoked nor expired.
func (r Record) Live(now time.Time) bool {
	return r.Revoked.IsZero() && (r.Expires.IsZero() || now.Before(r.Expires))
}

// key returns the key as code would give it.
func (r Record) key() (Key, error) {
	kind := ambit.KindUser
	switch r.Kind {
	case "", ambit.KindUser.String():
	case ambit.KindService.String():
		kind = ambit.KindService
	case ambit.KindAgent.String():
		kind = ambit.KindAgent
	default:
		return Key{}, fmt.Errorf("its kind is %q: choose user, service or agent", r.Kind)
	}
	for _, person := range r.Behind {
		// A halt of a principal names it in the same form.
		if _, err := ambit.ParseHalt("principal " + person); err != nil {
			return Key{}, fmt.Errorf("%q stands behind it, which is no key of a principal, LEN:TENANT/LEN:AUTHORITY/SUBJECT", person)
		}
	}
	return Key{Name: r.Name, Hash: r.Hash, Expires: r.Expires, Principal: &ambit.Principal{
		Subject: r.Subject, Kind: kind, Tenant: r.Tenant, Client: r.Client, Permissions: r.Permissions, Roles: r.Roles, Scopes: r.Scopes, Behind: r.Behind,
	}}, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name")
	case len(name) > maxName || !utf8.ValidString(name):
		return fmt.Errorf("its name is longer than %d bytes or no text", maxName)
	}
	return nil
}

func parseHash(text string) (sum hash, err error) {
	decoded, err := hex.DecodeString(text)
	if err != nil || len(decoded) != len(sum) {
		return sum, errors.New("its hash is not a SHA-256 in hexadecimal digits: make one with apikey.Hash")
	}
	return hash(decoded), nil
}
