package oauth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// leeway is how far the clocks of issuer and server may differ for the times
// before which a token does not hold. Its end is its end.
const leeway = 30 * time.Second

// errIntrospected says that the issuer of a JWT is asked about its tokens.
var errIntrospected = errors.New("the issuer is asked about its tokens")

// verifyJWT checks a signed token: header and claims first, because they cost
// least, then the signature.
func (a *Authenticator) verifyJWT(ctx context.Context, token string) (*verified, error) {
	s, err := parse(token)
	if err != nil {
		return nil, err
	}
	v := &verified{issuer: a.issuers[text(s.claims, "iss")]}
	switch {
	case v.issuer == nil:
		return nil, errors.New("the token's issuer is not one of Options.Issuers")
	case v.issuer.Introspect:
		if err := v.issuer.checkType(s.header, s.claims); err != nil {
			return nil, err // which the issuer need not be asked for
		}
		return nil, errIntrospected
	case !slices.Contains(v.issuer.algorithms, s.header.algorithm):
		return nil, fmt.Errorf("the issuer does not sign with %q", s.header.algorithm)
	}
	if err := v.issuer.checkType(s.header, s.claims); err != nil {
		return nil, err
	}
	if v.expires, err = checkTimes(s.claims, time.Now()); err != nil {
		return nil, err
	}
	if v.audience, err = audience(s.claims); err != nil {
		return nil, err
	}
	issued, _, err := timeOf(s.claims, "iat")
	if err != nil {
		return nil, err
	}
	var key any
	if key, v.set, err = v.issuer.keys.find(ctx, s.header, issued); err != nil {
		return nil, err
	}
	if err := s.verify(key); err != nil {
		return nil, err
	}
	if err := a.complete(ctx, v, s.claims); err != nil {
		return nil, err
	}
	return v, nil
}

// checkType judges what a token says that it is (RFC 9068, section 4; RFC 8725,
// section 3.11).
func (s *issuer) checkType(h header, all map[string]any) error {
	typ := strings.TrimPrefix(strings.ToLower(h.typ), "application/")
	switch {
	case typ == "at+jwt":
		return nil
	case typ != "" && typ != "jwt":
		return fmt.Errorf("the token is of type %q and no access token", typ)
	case !s.AcceptJWT && !s.Introspect:
		return errors.New("the token's type is not at+jwt: set Issuer.AcceptJWT if the issuer makes access tokens without it")
	}
	return checkNoOther(all)
}

// checkNoOther refuses tokens of an issuer that are made for something else, as far
// as they say so: ID tokens (OpenID Connect Core 1.0, sections 2 and 3.3.2.11) and
// those that vendors mark by a claim of their own.
func checkNoOther(all map[string]any) error {
	for _, name := range [...]string{"nonce", "at_hash", "c_hash", "s_hash", "events"} {
		if _, ok := all[name]; ok {
			return fmt.Errorf("the token has the claim %s, which access tokens have not", name)
		}
	}
	for _, name := range [...]string{"typ", "token_use"} {
		switch strings.TrimSuffix(strings.ToLower(text(all, name)), "_token") {
		case "id", "refresh", "offline", "logout":
			return fmt.Errorf("the token says of itself that it is a %s token", text(all, name))
		}
	}
	return nil
}

// checkTimes judges exp, which is required, nbf and iat (RFC 7519, sections 4.1.4
// to 4.1.6).
func checkTimes(all map[string]any, now time.Time) (expires time.Time, err error) {
	expires, there, err := timeOf(all, "exp")
	switch {
	case err != nil:
		return time.Time{}, err
	case !there:
		return time.Time{}, errors.New("the token does not expire")
	case !now.Before(expires):
		return time.Time{}, errExpired
	}
	for _, name := range [...]string{"nbf", "iat"} {
		at, there, err := timeOf(all, name)
		switch {
		case err != nil:
			return time.Time{}, err
		case there && now.Add(leeway).Before(at):
			return time.Time{}, fmt.Errorf("the token is of a time to come (%s)", name)
		}
	}
	return expires, nil
}

// timeOf reads a NumericDate (RFC 7519, section 2).
func timeOf(all map[string]any, name string) (at time.Time, there bool, err error) {
	value, there := all[name]
	if !there {
		return time.Time{}, false, nil
	}
	seconds, ok := value.(float64)
	if !ok || math.IsNaN(seconds) || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, true, fmt.Errorf("the claim %s is no time", name)
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true, nil
}
