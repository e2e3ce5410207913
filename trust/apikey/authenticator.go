package apikey

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// Authority is the authority of every principal that a key stands for.
const Authority = "apikey"

// Key is one key and the caller that it stands for. Either the key or its hash
// is given.
type Key struct {
	// Name is what the key is called in logs and errors, and the principal's
	// subject where that has none. Required, and unique.
	Name string
	// Secret is the key itself, as [Generate] made it.
	Secret string
	// Hash is the key's SHA-256 in hexadecimal digits, see [Hash].
	Hash string
	// Principal is who sends the key. Required. Its authority becomes
	// [Authority]; where it has no list of scopes (nil, which is not the empty
	// list) it becomes Unscoped. It is copied.
	Principal *ambit.Principal
	// Expires is when the key stops being valid. Zero: never.
	Expires time.Time
}

// Authenticator knows a fixed set of keys. It is immutable and safe for
// concurrent use, and it holds hashes only.
type Authenticator struct {
	byHash map[hash]*entry
	byName map[string]*entry
}

// entry is what a key opens.
type entry struct {
	identity trust.Identity
	expires  time.Time
}

var (
	errUnknown   = errors.New("the key is not known")
	errMalformed = errors.New("the key is not well formed, or its checksum is wrong")
	errExpired   = errors.New("the key has expired")
)

// New returns an authenticator for these keys. Two keys may stand for one
// principal, so that one can replace the other. A mistake in a key is an error
// that names it and never shows it.
func New(keys ...Key) (*Authenticator, error) {
	a, err := newAuthenticator(keys)
	if err != nil {
		return nil, fmt.Errorf("apikey: %w", err)
	}
	return a, nil
}

func newAuthenticator(keys []Key) (*Authenticator, error) {
	a := &Authenticator{byHash: make(map[hash]*entry, len(keys)), byName: make(map[string]*entry, len(keys))}
	for i, key := range keys {
		if key.Name == "" {
			return nil, fmt.Errorf("key %d has no name", i+1)
		}
		if err := a.add(key); err != nil {
			return nil, fmt.Errorf("key %q: %w", key.Name, err)
		}
	}
	return a, nil
}

func (a *Authenticator) add(key Key) error {
	sum, err := key.sum()
	if err != nil {
		return err
	}
	principal, err := key.principal()
	if err != nil {
		return err
	}
	if a.byName[key.Name] != nil {
		return errors.New("another key has this name")
	}
	if a.byHash[sum] != nil {
		return errors.New("another key is the same")
	}
	e := &entry{identity: trust.Identity{Principal: principal}, expires: key.Expires}
	a.byHash[sum], a.byName[key.Name] = e, e
	return nil
}

func (k Key) sum() (sum hash, err error) {
	switch {
	case k.Secret != "" && k.Hash != "":
		return sum, errors.New("has both a secret and a hash: give one")
	case k.Secret != "" && !wellFormed(k.Secret):
		return sum, errors.New("its secret is not a key: make one with apikey.Generate")
	case k.Secret != "":
		return sumOf(k.Secret), nil
	case k.Hash == "":
		return sum, errors.New("has no hash: make one with apikey.Hash")
	case strings.HasPrefix(k.Hash, prefix):
		return sum, errors.New("its hash is a key, not the hash of one: make the hash with apikey.Hash, and keep the key out of files")
	}
	decoded, err := hex.DecodeString(k.Hash)
	if err != nil || len(decoded) != len(sum) {
		return sum, errors.New("its hash is not a SHA-256 in hexadecimal digits: make one with apikey.Hash")
	}
	return hash(decoded), nil
}

func (k Key) principal() (*ambit.Principal, error) {
	if k.Principal == nil {
		return nil, errors.New("has no principal")
	}
	p := *k.Principal
	p.Permissions, p.Roles, p.Scopes, p.Claims = slices.Clone(p.Permissions), slices.Clone(p.Roles), slices.Clone(p.Scopes), maps.Clone(p.Claims)
	switch {
	case p.Kind >= ambit.KindAnonymous:
		return nil, errors.New("its principal is not of kind user, service or agent")
	case p.Authority != "" && p.Authority != Authority:
		return nil, fmt.Errorf("its principal has the authority %q: leave it empty", p.Authority)
	case p.Scopes != nil && p.Unscoped:
		return nil, errors.New("its principal has scopes and is Unscoped: choose one")
	}
	p.Authority = Authority
	if p.Subject == "" {
		p.Subject = k.Name
	}
	p.Unscoped = p.Scopes == nil
	if !k.Expires.IsZero() && (p.Expires.IsZero() || k.Expires.Before(p.Expires)) {
		p.Expires = k.Expires // a run that has begun ends with its key
	}
	return &p, nil
}

// Name returns "apikey".
func (a *Authenticator) Name() string { return "apikey" }

// Authenticate returns the caller whose key the Authorization header holds. A
// header of another scheme, or a bearer token that does not begin like a key, is
// left to other authenticators.
func (a *Authenticator) Authenticate(r *http.Request) (*trust.Identity, error) {
	header := r.Header["Authorization"]
	if len(header) == 0 {
		return nil, nil
	}
	key, ok := bearer(header[0])
	if !ok || !strings.HasPrefix(key, prefix) {
		return nil, nil
	}
	if !wellFormed(key) {
		return nil, errMalformed
	}
	// The look-up compares hashes: how long it takes says nothing about a key.
	e := a.byHash[sumOf(key)]
	switch {
	case e == nil:
		return nil, errUnknown
	case !e.expires.IsZero() && !time.Now().Before(e.expires):
		return nil, errExpired
	}
	return &e.identity, nil
}

// bearer takes the token out of an Authorization header (RFC 6750, section 2.1).
// The scheme's case does not matter (RFC 9110, section 11.1).
func bearer(header string) (token string, ok bool) {
	const scheme = "Bearer "
	if len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	return strings.Trim(header[len(scheme):], " "), true
}

// Challenge asks for a bearer token.
func (a *Authenticator) Challenge(*http.Request) string { return `Bearer realm="apikey"` }

// Hint says how a key is sent.
func (a *Authenticator) Hint() string { return "Send Authorization: Bearer KEY." }

// Notices says that there are no keys, where there are none: nobody can come in
// by one then.
func (a *Authenticator) Notices() []string {
	if len(a.byName) > 0 {
		return nil
	}
	return []string{"there are no API keys, so that nobody can come in by one"}
}

// Principal returns a copy of the principal of the key with this name, for
// programs that act as one of their own callers.
func (a *Authenticator) Principal(name string) (*ambit.Principal, bool) {
	e := a.byName[name]
	if e == nil {
		return nil, false
	}
	p := *e.identity.Principal
	p.Permissions, p.Roles, p.Scopes, p.Claims = slices.Clone(p.Permissions), slices.Clone(p.Roles), slices.Clone(p.Scopes), maps.Clone(p.Claims)
	return &p, true
}
