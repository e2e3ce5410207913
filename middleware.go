package ambit

import (
	"context"
	"sync/atomic"
)

// Middleware wraps the handlers of an application ([Options.Middleware]) or of
// one capability (WithMiddleware). It runs after every check and before the
// handler, for calls of every surface, outermost first. It can add to the
// context, measure, open a transaction, refuse, or replace the output, which is
// checked again; it cannot change input, principal or capability.
type Middleware struct {
	// Name is how listings and errors call it. Required, and unique along one
	// capability's chain.
	Name string
	// Wrap calls next at most once and before it returns, with ctx or a
	// context made from it, and returns next's output or another of the same
	// type. A second or late call of next does not run the handler; it fails.
	// Required. It must be safe for concurrent use.
	Wrap func(ctx context.Context, call *Call, next Next) (any, error)
}

// Next runs the rest of a chain of [Middleware] and the handler.
type Next func(ctx context.Context) (any, error)

// passage is the way through one chain to its end: open until somebody is there,
// and closed for good as soon as any middleware along it has returned, so that
// nothing starts once a caller may have been told that nothing did.
type passage struct{ state atomic.Uint32 }

const (
	passageOpen uint32 = iota
	passagePassed
	passageClosed
)

func (p *passage) pass() bool   { return p.state.CompareAndSwap(passageOpen, passagePassed) }
func (p *passage) close()       { p.state.Store(passageClosed) }
func (p *passage) closed() bool { return p.state.Load() == passageClosed }

// chain runs middleware, then what is at its end. The call is marked before the
// passage is tried: a mark for an end that is then not reached only makes the
// answer more careful.
func chain(ctx context.Context, call *Call, p *passage, middleware []Middleware, mark uint32, handle Next) (any, error) {
	if len(middleware) == 0 {
		call.marks.Or(mark)
		if !p.pass() {
			return nil, &Error{Code: CodeInternal, cause: errorText("middleware around " + call.Capability() + " reached its end after one of them had returned")}
		}
		return handle(ctx)
	}
	var used atomic.Bool
	next := func(inner context.Context) (any, error) {
		if p.closed() || !used.CompareAndSwap(false, true) {
			return nil, brokenChain(call, middleware[0], "called next more than once, or after it had returned")
		}
		if FromContext(inner) != call {
			return nil, brokenChain(call, middleware[0], "called next with a context that is not the call's own")
		}
		return chain(inner, call, p, middleware[1:], mark, handle)
	}
	defer p.close()
	return middleware[0].Wrap(ctx, call, next)
}

func brokenChain(call *Call, m Middleware, what string) *Error {
	return &Error{Code: CodeInternal, cause: errorText("middleware " + m.Name + " around " + call.Capability() + " " + what)}
}

// errorText is a constant-like error for causes that only the log shows.
type errorText string

func (e errorText) Error() string { return string(e) }
