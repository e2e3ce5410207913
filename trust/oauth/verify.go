package oauth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

var (
	errExpired    = errors.New("the token has expired")
	errAudience   = errors.New("the token is for another audience")
	errNoResource = errors.New("a token came to a path that no resource of oauth.Options covers")
	errUnknown    = errors.New("the token is no JWT, and no issuer is asked about others")
	errInactive   = errors.New("the issuer says that the token does not hold")
	errClosed     = unavailable("the authenticator was closed")
)

// verified is what was found out about a token that holds. It is not changed.
type verified struct {
	identity trust.Identity
	issuer   *issuer
	set      *keySet  // whose keys it was checked with; nil: introspected
	audience []string // nil: not judged here
	expires  time.Time
	until    time.Time // for how long all this may be remembered
	key      string    // thumbprint of the key that the sender must prove; "" for none
	cert     string    // that of the client certificate; "" for none
}

// complete fills in what is the same for every kind of token.
func (a *Authenticator) complete(ctx context.Context, v *verified, all map[string]any) (err error) {
	if v.key, v.cert, err = confirmation(all); err != nil {
		return err
	}
	claims, err := read(v.issuer, all)
	if err != nil {
		return err
	}
	claims.Expires = v.expires
	principal := claims.Principal()
	if a.options.Principal != nil {
		if principal, err = a.options.Principal(ctx, claims); err != nil {
			return err
		}
	}
	v.identity, err = v.issuer.identify(principal, v.expires)
	return err
}

// confirmation reads what a token is bound to (RFC 7800, section 3.1). A binding
// of a kind that cannot be checked here refuses the token.
func confirmation(all map[string]any) (key, cert string, err error) {
	value, ok := all["cnf"]
	if !ok {
		return "", "", nil
	}
	members, _ := value.(map[string]any)
	for name, value := range members {
		text, _ := value.(string)
		switch {
		case text == "":
			return "", "", errors.New("the token's cnf is malformed")
		case name == "jkt":
			key = text
		case name == "x5t#S256":
			cert = text
		default:
			return "", "", fmt.Errorf("the token is bound by %q, which is not known here", name)
		}
	}
	if key == "" && cert == "" {
		return "", "", errors.New("the token's cnf is malformed")
	}
	return key, cert, nil
}

// verify checks a token by itself, or remembers that it was checked. Nil and no
// error: it is none of those that are checked here.
func (a *Authenticator) verify(ctx context.Context, token string) (*verified, error) {
	h := sha256.Sum256([]byte(token))
	v, held := a.seen.get(h)
	if held {
		switch fresh, err := a.remembered(ctx, v); {
		case err != nil:
			return nil, err
		case fresh:
			return v, nil
		}
	}
	v, err := a.examine(ctx, token, h, held)
	switch {
	case ambit.CodeOf(err) == ambit.CodeUnavailable: // so that nobody knows better
		return nil, err
	case err != nil || v == nil:
		if held {
			a.seen.drop(h)
		}
		return nil, err
	}
	if v.until.IsZero() {
		v.until = time.Now().Add(seenFor)
	}
	if !v.expires.IsZero() && v.expires.Before(v.until) {
		v.until = v.expires
	}
	a.seen.put(h, v)
	return v, nil
}

// remembered reports whether what was found out still holds (rule T03).
func (a *Authenticator) remembered(ctx context.Context, v *verified) (bool, error) {
	if !time.Now().Before(v.until) {
		return false, nil
	}
	if v.set == nil {
		return true, nil
	}
	set, err := v.issuer.keys.current(ctx)
	return set == v.set, err
}

// examine checks a token that may have held lately.
func (a *Authenticator) examine(ctx context.Context, token string, h hash, held bool) (*verified, error) {
	if compact(token) {
		v, err := a.verifyJWT(ctx, token)
		if !errors.Is(err, errIntrospected) {
			return v, err
		}
	}
	if a.introspecting == nil {
		return nil, nil
	}
	return a.introspect(ctx, token, h, held)
}

// verifier has the application check a token.
func (a *Authenticator) verifier(r *http.Request, token string) (*verified, error) {
	copied := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone()}
	for _, name := range [...]string{"Authorization", "Dpop", "Cookie"} {
		delete(copied.Header, name)
	}
	body, refused := trust.Peek(r, trust.MaxAnonymousBody)
	switch {
	case refused == nil:
		copied.Body = body
	case refused.Code == ambit.CodeInputTooLarge:
		copied.TooLong = true
	default:
		return nil, refused
	}
	p, err := a.options.Verify(r.Context(), token, copied)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("Options.Verify returned no principal")
	}
	v := &verified{}
	switch {
	case p.Authority != "":
		v.issuer = a.issuers[p.Authority]
	case len(a.issuers) == 1:
		v.issuer = a.only
	}
	if v.issuer == nil {
		return nil, fmt.Errorf("Options.Verify returned a principal of the authority %q, which is none of Options.Issuers", p.Authority)
	}
	if v.key, v.cert, err = confirmation(p.Claims); err != nil {
		return nil, err
	}
	v.identity, err = v.issuer.identify(p, p.Expires)
	v.expires = p.Expires
	return v, err
}

// allows checks a token that holds against the endpoint that it was sent to.
func (a *Authenticator) allows(at *resource, v *verified) error {
	if !v.expires.IsZero() && !time.Now().Before(v.expires) {
		return errExpired
	}
	if a.options.Verify == nil && !slices.ContainsFunc(v.audience, func(one string) bool { return slices.Contains(at.Audiences, one) }) {
		return errAudience
	}
	return nil
}

// scoped checks the scopes that the endpoint needs of every token.
func (a *Authenticator) scoped(at *resource, p *ambit.Principal) error {
	if p.Unscoped {
		return nil // the mapper's or the verifier's word (rule T06)
	}
	for _, needed := range at.Scopes {
		if !a.included(p.Scopes, needed) {
			return &ambit.Error{
				Code: ambit.CodeInsufficientScope, Message: "Your token's scopes do not cover this endpoint.",
				Hint: "Obtain a token with the scopes listed.", Scopes: slices.Clone(at.Scopes),
			}
		}
	}
	return nil
}
