package apikey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
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
	// list) it becomes Unscoped. It is copied, and [KeyClaim] is added.
	Principal *ambit.Principal
	// Expires is when the key stops being valid. Zero: never.
	Expires time.Time
}

// Authenticator knows keys: those that it was made with, see [New], or those of a
// store, see [FromStore]. It is safe for concurrent use, and it holds hashes
// only.
type Authenticator struct {
	byHash map[hash]*entry
	byName map[string]*entry
	stored *lookups // nil: there is no store
}

// entry is what a key opens.
type entry struct {
	sum      hash
	identity trust.Identity
	expires  time.Time
	ended    error // why it opens nothing any more, whatever the time
}

var (
	errUnknown   = errors.New("the key is not known")
	errMalformed = errors.New("the key is not well formed, or its checksum is wrong")
	errExpired   = errors.New("the key has expired")
	errRevoked   = errors.New("the key was revoked")
)

// New returns an authenticator for these keys and no others. Two keys may stand
// for one principal, so that one can replace the other. A mistake in a key is an
// error that names it and never shows it.
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
		e, err := key.entry()
		switch {
		case err != nil:
		case a.byName[key.Name] != nil:
			err = errors.New("another key has this name")
		case a.byHash[e.sum] != nil:
			err = errors.New("another key is the same")
		}
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key.Name, err)
		}
		a.byHash[e.sum], a.byName[key.Name] = e, e
	}
	return a, nil
}

func (k Key) entry() (*entry, error) {
	if err := checkName(k.Name); err != nil {
		return nil, err
	}
	sum, err := k.sum()
	if err != nil {
		return nil, err
	}
	principal, err := k.principal()
	if err != nil {
		return nil, err
	}
	return &entry{sum: sum, identity: trust.Identity{Principal: principal}, expires: k.Expires}, nil
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
	return parseHash(k.Hash)
}

func (k Key) principal() (*ambit.Principal, error) {
	if k.Principal == nil {
		return nil, errors.New("has no principal")
	}
	p := clone(k.Principal)
	switch {
	case p.Kind >= ambit.KindAnonymous:
		return nil, errors.New("its principal is not of kind user, service or agent")
	case p.Authority != "" && p.Authority != Authority:
		return nil, fmt.Errorf("its principal has the authority %q: leave it empty", p.Authority)
	case p.Scopes != nil && p.Unscoped:
		return nil, errors.New("its principal has scopes and is Unscoped: choose one")
	}
	if fault := principalkey.TenantFault(p.Tenant); fault != "" {
		return nil, errors.New("its principal's tenant " + fault + ": no call could be made with it")
	}
	p.Authority = Authority
	if p.Subject == "" {
		p.Subject = k.Name
	}
	p.Unscoped = p.Scopes == nil
	if p.Claims == nil {
		p.Claims = make(map[string]any, 1)
	}
	p.Claims[KeyClaim] = k.Name
	if !k.Expires.IsZero() && (p.Expires.IsZero() || k.Expires.Before(p.Expires)) {
		p.Expires = k.Expires // a run that has begun ends with its key
	}
	return p, nil
}

// clone returns a copy that shares no list or map.
func clone(given *ambit.Principal) *ambit.Principal {
	p := *given
	p.Permissions, p.Roles, p.Scopes, p.Behind = slices.Clone(p.Permissions), slices.Clone(p.Roles), slices.Clone(p.Scopes), slices.Clone(p.Behind)
	p.Claims = maps.Clone(p.Claims)
	return &p
}

// Name returns "apikey".
func (a *Authenticator) Name() string { return "apikey" }

// Authenticate returns the caller whose key the Authorization header holds. A
// header of another scheme, or a bearer token that does not begin like a key, is
// left to other authenticators. Where the store would know and does not answer,
// the error is CodeUnavailable.
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
	sum := sumOf(key)
	e := a.byHash[sum]
	if a.stored != nil {
		var err error
		if e, err = a.stored.find(r.Context(), sum); err != nil {
			return nil, err
		}
	}
	if err := e.refusal(time.Now()); err != nil {
		return nil, err
	}
	return &e.identity, nil
}

// refusal says why an entry opens nothing at a time, or nothing. It is for nil,
// too.
func (e *entry) refusal(now time.Time) error {
	switch {
	case e == nil:
		return errUnknown
	case e.ended != nil:
		return e.ended
	case !e.expires.IsZero() && !now.Before(e.expires):
		return errExpired
	}
	return nil
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
// by one then. It says, too, that a store does not answer.
func (a *Authenticator) Notices() []string {
	if a.stored != nil {
		return a.stored.notices()
	}
	if len(a.byName) > 0 {
		return nil
	}
	return []string{noKeys}
}

const noKeys = "there are no API keys, so that nobody can come in by one"

// Principal returns a copy of the principal of the key with this name, for
// programs that act as one of their own callers; it is what
// command.Options.Principals wants. The error is an *ambit.Error: CodeInvalidInput
// where there is no such key, CodeForbidden where it is not valid any more,
// CodeUnavailable where the store does not answer.
func (a *Authenticator) Principal(ctx context.Context, name string) (*ambit.Principal, error) {
	e, err := a.named(ctx, name)
	if err != nil {
		return nil, err
	}
	switch err := e.refusal(time.Now()); {
	case e == nil:
		return nil, ambit.Errorf(ambit.CodeInvalidInput, "There is no API key %q.", name).WithHint("The command key list shows which there are.")
	case err != nil:
		return nil, ambit.Errorf(ambit.CodeForbidden, "The API key %q is not valid any more.", name)
	}
	return clone(e.identity.Principal), nil
}
