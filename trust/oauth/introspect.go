package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// maxAsked is how many tokens an issuer is asked about at a time, and
	// maxRenewed how many more of those that held lately: nobody can fill these
	// places with tokens that are made up.
	maxAsked   = 24
	maxRenewed = 8
	// maxQuestions is how many questions there are at a time, with those that wait
	// for a place. Those about tokens that held lately may be twice as many.
	maxQuestions = 256
)

// questions are those to an issuer, by token: each is asked once however many wait
// for the answer, and answers are remembered. That is a memory apart from that of
// tokens that hold, so that those who send made-up ones push out no good one.
type questions struct {
	mu       sync.Mutex
	under    map[hash]*question
	answered seen[*question]
	asked    chan struct{} // places
	renewed  chan struct{} // and those for tokens that held lately
}

func newQuestions() questions {
	return questions{
		under: make(map[hash]*question), asked: make(chan struct{}, maxAsked), renewed: make(chan struct{}, maxRenewed),
	}
}

// question is one of them. What follows done is set when done is closed.
type question struct {
	held      bool          // the token held lately
	waiting   int           // how many wait for the answer
	begun     bool          // it is asked, whoever waits
	abandoned chan struct{} // closed when nobody waits any more, and it had not begun

	done   chan struct{}
	claims map[string]any
	err    error
	until  time.Time // for how long the answer may be remembered
}

// introspect has the issuer say whether a token holds (RFC 7662). Held says that it
// did lately.
func (a *Authenticator) introspect(ctx context.Context, token string, h hash, held bool) (*verified, error) {
	q, err := a.ask(token, h, held)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, q.done); err != nil {
		a.asked.leave(q, h)
		return nil, err
	}
	if q.err != nil {
		return nil, q.err
	}
	v := &verified{issuer: a.introspecting, until: q.until}
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
func (a *Authenticator) ask(token string, h hash, held bool) (*question, error) {
	a.asked.mu.Lock()
	defer a.asked.mu.Unlock()
	if q := a.asked.under[h]; q != nil {
		q.waiting++
		return q, nil
	}
	if q, ok := a.asked.answered.get(h); ok && time.Now().Before(q.until) {
		return q, nil
	}
	most := maxQuestions
	if held {
		most *= 2
	}
	if len(a.asked.under) >= most {
		return nil, unavailable("introspection: the issuer is asked about too many tokens already")
	}
	q := &question{held: held, waiting: 1, abandoned: make(chan struct{}), done: make(chan struct{})}
	if !a.start(func(ctx context.Context) { a.pursue(ctx, q, token, h) }) {
		return nil, errClosed
	}
	a.asked.under[h] = q
	return q, nil
}

// leave is what somebody does who waits no longer. A question that was not begun is
// dropped with the last of them, and the issuer never sees the token.
func (s *questions) leave(q *question, h hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.waiting--; q.waiting == 0 && !q.begun {
		delete(s.under, h)
		close(q.abandoned)
	}
}

// begin reports whether there is still somebody who wants the answer.
func (s *questions) begin(q *question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.begun = q.waiting > 0
	return q.begun
}

// pursue asks a question when there is a place, and ends it.
func (a *Authenticator) pursue(ctx context.Context, q *question, token string, h hash) {
	renewed := a.asked.renewed
	if !q.held {
		renewed = nil // which has no place for it
	}
	select {
	case a.asked.asked <- struct{}{}:
		defer func() { <-a.asked.asked }()
	case renewed <- struct{}{}:
		defer func() { <-renewed }()
	case <-q.abandoned:
		return
	case <-ctx.Done():
	}
	if !a.asked.begin(q) {
		return
	}
	asked := time.Now() // what the issuer says may be as old as that
	q.claims, q.err = a.answer(ctx, token)
	q.until = asked.Add(seenFor)
	if q.err != nil && !errors.Is(q.err, errInactive) {
		q.until = time.Now().Add(retryAfter)
	}
	a.asked.mu.Lock()
	defer a.asked.mu.Unlock()
	a.asked.answered.put(h, q)
	delete(a.asked.under, h)
	close(q.done)
}

// answer asks the issuer.
func (a *Authenticator) answer(ctx context.Context, token string) (map[string]any, error) {
	if ctx.Err() != nil {
		return nil, errClosed
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

// checkAnswer judges what an issuer says of a token that it calls active: what it
// is, whose, and when it ends. All of it may be missing (RFC 7662, section 2.2).
func checkAnswer(s *issuer, claims map[string]any, now time.Time) (expires time.Time, err error) {
	if iss, ok := claims["iss"]; ok && iss != s.URL {
		return time.Time{}, errors.New("introspection: the token is another issuer's")
	}
	if err := checkNoOther(claims); err != nil {
		return time.Time{}, err
	}
	if _, ok := claims["token_type"]; ok {
		key, _, err := confirmation(claims)
		switch kind := strings.ToLower(text(claims, "token_type")); {
		case err != nil:
			return time.Time{}, err
		case kind == "dpop" && key == "":
			return time.Time{}, errors.New("introspection: the token is of type DPoP and bound to no key")
		case kind != "dpop" && kind != "bearer":
			return time.Time{}, fmt.Errorf("introspection: the token is of type %q and no access token", kind)
		}
	}
	if _, ok := claims["exp"]; !ok {
		return time.Time{}, nil
	}
	return checkTimes(claims, now)
}
