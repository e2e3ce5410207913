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

// questions are those to an issuer, by token: each is asked once however many wait
// for the answer, and answers are remembered. That is a memory apart from that of
// tokens that hold, so that those who send made-up ones push out no good one.
type questions struct {
	mu       sync.Mutex
	under    map[hash]*question
	answered seen[*question]
	room     chan struct{}
}

// question is one of them. What follows done is set when done is closed.
type question struct {
	done   chan struct{}
	claims map[string]any
	err    error
	until  time.Time // for how long the answer may be remembered
}

// introspect has the issuer say whether a token holds (RFC 7662).
func (a *Authenticator) introspect(ctx context.Context, token string, h hash) (*verified, error) {
	q := a.ask(token, h)
	if q == nil {
		return nil, unavailable("the authenticator was closed")
	}
	if err := wait(ctx, q.done); err != nil {
		return nil, err
	}
	if q.err != nil {
		return nil, q.err
	}
	v := &verified{issuer: a.introspecting, until: q.until}
	var err error
	if v.expires, err = checkAnswer(v.issuer, q.claims, time.Now()); err != nil {
		return nil, err
	}
	if v.audience, err = audience(q.claims); err != nil {
		return nil, err
	}
	if err := a.complete(ctx, v, q.claims); err != nil {
		return nil, err
	}
	return v, nil
}

// ask returns the question about a token, and begins it where nobody has lately.
func (a *Authenticator) ask(token string, h hash) *question {
	a.asked.mu.Lock()
	defer a.asked.mu.Unlock()
	if q := a.asked.under[h]; q != nil {
		return q
	}
	if q, ok := a.asked.answered.get(h); ok && time.Now().Before(q.until) {
		return q
	}
	q := &question{done: make(chan struct{})}
	if !a.start(func(ctx context.Context) {
		q.claims, q.err = a.answer(ctx, token)
		a.asked.mu.Lock()
		defer a.asked.mu.Unlock()
		if q.err == nil || errors.Is(q.err, errInactive) {
			q.until = time.Now().Add(seenFor)
			a.asked.answered.put(h, q)
		}
		delete(a.asked.under, h)
		close(q.done)
	}) {
		return nil
	}
	a.asked.under[h] = q
	return q
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
