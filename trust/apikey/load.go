package apikey

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/schema"
)

// keyFile is a file of hashes.
type keyFile struct {
	Keys []keyRecord `json:"keys"`
}

// keyRecord is one entry of a file. The hash counts as a secret, since the key
// itself may stand in its place by mistake: no error repeats it.
type keyRecord struct {
	Name        string    `json:"name" minLength:"1"`
	Hash        string    `json:"hash" secret:"true"`
	Expires     time.Time `json:"expires,omitzero"`
	Subject     string    `json:"subject,omitempty"`
	Kind        string    `json:"kind,omitempty" enum:"user,service,agent"`
	Tenant      string    `json:"tenant,omitempty"`
	Permissions []string  `json:"permissions,omitempty"`
	Roles       []string  `json:"roles,omitempty"`
	Scopes      []string  `json:"scopes,omitempty"`
}

// Load reads keys from a file of hashes:
//
//	{"keys": [{
//	  "name": "billing", "hash": "9f86d0...", "kind": "service",
//	  "permissions": ["orders:read"], "expires": "2030-01-01T00:00:00Z"
//	}]}
//
// Name and hash are required. The other members are kind (user unless given),
// subject (the name unless given), tenant, permissions, roles, scopes (a key
// without the member is not limited to scopes) and expires (RFC 3339). The error
// has a line for each mistake, with its JSON Pointer. On Unix a file that others
// than its owner may write to is an error, and so is one whose owner is neither
// root nor the user of the process. The file is read once; changing it takes a
// restart.
func Load(path string) (*Authenticator, error) {
	data, err := readFile(path, 0o022, "write to it")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(`%w: make it, as {"keys": [ENTRY]}; the command key of package command prints a new key and its entry`, err)
	}
	if err != nil {
		return nil, err
	}
	file, err := parse(data)
	if err != nil {
		return nil, atPath(path, err)
	}
	keys := make([]Key, len(file.Keys))
	for i, record := range file.Keys {
		keys[i] = record.key()
	}
	a, err := newAuthenticator(keys)
	if err != nil {
		return nil, atPath(path, err)
	}
	return a, nil
}

// atPath says which file an error is about, in each of its lines.
func atPath(path string, err error) error {
	var lines []error
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			lines = append(lines, atPath(path, one))
		}
		return errors.Join(lines...)
	}
	return fmt.Errorf("apikey: %s: %w", path, err)
}

// parse reads the text of a file. The error joins all that is wrong with it.
func parse(data []byte) (file keyFile, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return file, errors.New(`is empty: a file without keys is {"keys": []}`)
	}
	form, err := schema.For[keyFile](schema.Options{})
	if err != nil {
		return file, err
	}
	var mistakes []error
	for _, fault := range form.Decode(data, reflect.ValueOf(&file).Elem(), 0) {
		mistakes = append(mistakes, mistake(fault))
	}
	return file, errors.Join(mistakes...)
}

func mistake(fault schema.Fault) error {
	where, what := fault.Pointer, fault.Message
	if where == "" {
		where = "the text"
	}
	if len(fault.Allowed) > 0 {
		what += fmt.Sprintf(" (allowed: %v)", fault.Allowed)
	}
	return fmt.Errorf("%s: %s", where, what)
}

func (r *keyRecord) key() Key {
	kind := ambit.KindUser
	switch r.Kind {
	case ambit.KindService.String():
		kind = ambit.KindService
	case ambit.KindAgent.String():
		kind = ambit.KindAgent
	}
	return Key{Name: r.Name, Hash: r.Hash, Expires: r.Expires, Principal: &ambit.Principal{
		Subject: r.Subject, Kind: kind, Tenant: r.Tenant, Permissions: r.Permissions, Roles: r.Roles, Scopes: r.Scopes,
	}}
}
