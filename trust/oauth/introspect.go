package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// maxAsked is how many tokens an issuer is asked about at a time. More wait.
const maxAsked = 32

// inactive remembers tokens that do not hold. They have a memory of their own, so
// that those who send made-up ones push out no good one.
type inactive struct{ seen[time.Time] }

// flights are the questions to an issuer that are under way, by token, so that each
// is asked once however many wait for the answer.
type flights struct {
	mu    sync.Mutex
	under map[hash]*flight
	room  chan struct{}
}

// flight is one question. Its result is set when done is closed.
type flight struct {
	done   chan struct{}
	claims map[string]any
	err    error
}

// introspect has the issuer say whether a token holds (RFC 7662).
func (a *Authenticator) introspect(ctx context.Context, token string, h hash) (*verified, error) {
	if until, ok := a.inactive.get(h); ok && time.Now().Before(until) {
		return nil, errInactive
	}
	f := a.question(token, h)
	if f == nil {
		return nil, unavailable("the authenticator was closed")
	}
	if err := wait(ctx, f.done); err != nil {
		return nil, err
	}
	if f.err != nil {
		return nil, f.err
	}
	v := &verified{issuer: a.introspecting}
	var err error
	if v.expires, err = checkAnswer(v.issuer, f.claims, time.Now()); err != nil {
		return nil, err
	}
	if v.audience, err = audience(f.claims); err != nil {
		return nil, err
	}
	if err := a.complete(ctx, v, f.claims); err != nil {
		return nil, err
	}
	return v, nil
}

// question returns the question about a token, and asks it where nobody has.
func (a *Authenticator) question(token string, h hash) *flight {
	a.asked.mu.Lock()
	defer a.asked.mu.Unlock()
	if f := a.asked.under[h]; f != nil {
		return f
	}
	if a.asked.under == nil {
		a.asked.under, a.asked.room = make(map[hash]*flight), make(chan struct{}, maxAsked)
	}
	f := &flight{done: make(chan struct{})}
	if !a.start(func(ctx context.Context) {
		f.claims, f.err = a.answer(ctx, token)
		if errors.Is(f.err, errInactive) {
			a.inactive.put(h, time.Now().Add(seenFor))
		}
		a.asked.mu.Lock()
		delete(a.asked.under, h)
		a.asked.mu.Unlock()
		close(f.done)
	}) {
		return nil
	}
	a.asked.under[h] = f
	return f
}

// answer asks the issuer.
func (a *Authenticator) answer(ctx context.Context, token string) (map[string]any, error) {
	select {
	case a.asked.room <- struct{}{}:
		defer func() { <-a.asked.room }()
	case <-ctx.Done():
		return nil, unavailable("the authenticator was closed")
	}
	s := a.introspecting
	address := s.IntrospectionURL
	if address == "" {
		found, err := s.discovery.find(ctx)
		if err != nil {
			return nil, unavailable(fmt.Sprintf("introspection: the metadata of %s: %v", s.URL, err))
		}
		if address = found.introspection; address == "" {
			return nil, unavailable("introspection: the metadata of " + s.URL + " names no endpoint: set Issuer.IntrospectionURL")
		}
	}
	body, err := a.post(ctx, address, s.Client, url.Values{"token": {token}, "token_type_hint": {"access_token"}})
	if err != nil {
		return nil, unavailable(fmt.Sprintf("introspection: %v", err))
	}
	claims, err := object(body)
	if err != nil {
		return nil, unavailable("introspection: " + err.Error())
	}
	active, ok := claims["active"].(bool)
	switch {
	case !ok:
		return nil, unavailable("introspection: the answer does not say whether the token is active")
	case !active:
		return nil, errInactive
	}
	return claims, nil
}

// checkAnswer judges what an issuer says of a token that it calls active: whose it
// is, and when it ends. Either may be missing (RFC 7662, section 2.2).
func checkAnswer(s *issuer, claims map[string]any, now time.Time) (expires time.Time, err error) {
	if iss, ok := claims["iss"]; ok && iss != s.URL {
		return time.Time{}, errors.New("introspection: the token is another issuer's")
	}
	if _, ok := claims["exp"]; !ok {
		return time.Time{}, nil
	}
	return checkTimes(claims, now)
}
