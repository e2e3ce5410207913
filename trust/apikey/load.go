package apikey

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

const maxFile = 8 << 20

type keyFile struct {
	Keys []keyRecord `json:"keys"`
}

type keyRecord struct {
	Name        string    `json:"name"`
	Hash        string    `json:"hash"`
	Expires     time.Time `json:"expires"`
	Subject     string    `json:"subject"`
	Kind        string    `json:"kind"`
	Tenant      string    `json:"tenant"`
	Permissions []string  `json:"permissions"`
	Roles       []string  `json:"roles"`
	Scopes      []string  `json:"scopes"`
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
// without the member is not limited to scopes) and expires (RFC 3339). On Unix
// a file that others than its owner may write to is an error. The file is read
// once; changing it takes a restart.
func Load(path string) (*Authenticator, error) {
	data, err := readFile(path, 0o022)
	if err != nil {
		return nil, err
	}
	var file keyFile
	if err := strictjson.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("apikey: %s is not a file of keys: %w", path, err)
	}
	keys := make([]Key, len(file.Keys))
	for i, record := range file.Keys {
		if keys[i], err = record.key(); err != nil {
			return nil, fmt.Errorf("apikey: %s: key %q: %w", path, record.Name, err)
		}
	}
	a, err := New(keys...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func (r keyRecord) key() (Key, error) {
	kind, err := kindOf(r.Kind)
	if err != nil {
		return Key{}, err
	}
	return Key{Name: r.Name, Hash: r.Hash, Expires: r.Expires, Principal: &ambit.Principal{
		Subject: r.Subject, Kind: kind, Tenant: r.Tenant, Permissions: r.Permissions, Roles: r.Roles, Scopes: r.Scopes,
	}}, nil
}

func kindOf(name string) (ambit.Kind, error) {
	for _, kind := range []ambit.Kind{ambit.KindUser, ambit.KindService, ambit.KindAgent} {
		if name == kind.String() {
			return kind, nil
		}
	}
	if name == "" {
		return ambit.KindUser, nil
	}
	return 0, fmt.Errorf("its kind is %q: say user, service or agent", name)
}

// readFile reads a file of keys, unless its rights have one of the forbidden
// bits. Rights are looked at on the open file, so that what was checked is what
// is read. Windows has no such bits: there, the folder's own list rules.
func readFile(path string, forbidden os.FileMode) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("apikey: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("apikey: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("apikey: %s is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&forbidden != 0:
		return nil, fmt.Errorf("apikey: %s has the rights %#o, which others than its owner can use: chmod 600 it", path, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("larger than 8 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("apikey: %s: %w", path, err)
	}
	return data, nil
}
