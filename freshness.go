package ambit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// Freshness is how old a principal may be before a call has it resolved again,
// where the application has [Options.Resolve].
const Freshness = 30 * time.Second

// identity is who a run works for, as last resolved. Runs of one principal
// within one another share it.
type identity struct {
	ceiling   *Principal // as at the start: scopes only shrink
	principal atomic.Pointer[Principal]
	resolved  atomic.Int64  // when the resolver was asked, Unix time in nanoseconds
	turn      chan struct{} // full while somebody resolves; nil without a resolver
}

// set begins an identity. The principal is not copied: nobody may change it.
func (i *identity) set(p *Principal, now time.Time, resolves bool) {
	if resolves {
		i.turn = make(chan struct{}, 1)
	}
	i.ceiling = p
	i.principal.Store(p)
	i.resolved.Store(now.UnixNano())
}

// fresh makes sure that the run's principal is one of now: not expired, and
// resolved again if it is older than Freshness, or older than since.
func (a *App) fresh(ctx context.Context, run *Run, now, since time.Time) *Error {
	i := run.identity
	if expires := i.principal.Load().Expires; !expires.IsZero() && !now.Before(expires) {
		return expired()
	}
	if a.options.Resolve == nil {
		return nil
	}
	if last := time.Unix(0, i.resolved.Load()); now.Sub(last) <= Freshness && !last.Before(since) {
		return nil
	}
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return contextError(ctx.Err())
	}
	if last := time.Unix(0, i.resolved.Load()); now.Sub(last) <= Freshness && !last.Before(since) {
		return nil // another call has just done it
	}
	asked := time.Now() // what is answered may be as old as the question
	resolved, err := a.resolve(ctx, i.principal.Load())
	switch {
	case err != nil:
		return &Error{Code: CodeUnavailable, cause: err}
	case resolved == nil:
		return &Error{Code: CodeUnauthenticated, cause: errors.New("the principal no longer exists")}
	case resolved.fault() != "" || resolved.Key() != run.key:
		return &Error{Code: CodeInternal, cause: fmt.Errorf("Options.Resolve returned another or no valid principal for %s", run.key)}
	}
	own := *resolved
	// The credential still ends when it ends, whatever the application knows of
	// its owner.
	if ends := i.ceiling.Expires; !ends.IsZero() && (own.Expires.IsZero() || ends.Before(own.Expires)) {
		own.Expires = ends
	}
	if !own.Expires.IsZero() && !time.Now().Before(own.Expires) {
		return expired()
	}
	if ceiling := i.ceiling; !ceiling.Unscoped {
		if own.Unscoped {
			own.Scopes, own.Unscoped = ceiling.Scopes, false
		}
		own.Scopes = slices.DeleteFunc(slices.Clone(own.Scopes), func(scope string) bool { return !slices.Contains(ceiling.Scopes, scope) })
	}
	i.principal.Store(&own)
	i.resolved.Store(asked.UnixNano())
	return nil
}

func expired() *Error {
	return &Error{Code: CodeUnauthenticated, Message: "Your credential has expired.", cause: errors.New("the principal's credential has expired")}
}

func (a *App) resolve(ctx context.Context, p *Principal) (resolved *Principal, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(ctx, "", v)
		}
	}()
	return a.options.Resolve(ctx, p.clone())
}
