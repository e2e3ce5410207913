package ambit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// RunOptions say on whose behalf a run works and where it came from.
type RunOptions struct {
	// Principal is who is calling. Required: a run without one refuses every
	// call. It must not be changed afterwards.
	Principal *Principal
	// Surface is the way in that the calls of this run are judged by. Zero:
	// in-process. Code that serves a surface sets it; a request never does.
	Surface Surface
	// Request is the request's id on its surface, for records. May be empty.
	Request string
	// Log takes what handlers say through [Run.Log], for surfaces that carry
	// logs. Nil: nobody listens. Calls of it do not overlap, and none comes
	// after [Run.End].
	Log func(level slog.Level, text string)
}

// Run is one unit of work by one principal. It travels in a context: every call
// made with that context, or one made from it, belongs to the run. Methods are
// safe for concurrent use, and those of a nil Run do nothing.
type Run struct {
	app       *App
	id        ID
	principal Principal
	key       string // principal.Key()
	surface   Surface
	request   string
	err       *Error // why the run refuses everything
	ctx       runContext

	mu    sync.Mutex // held while log runs
	log   func(slog.Level, string)
	ended bool
}

type (
	runKey  struct{}
	callKey struct{}
)

// runContext is a run's context; the run holds it, so that both are one
// allocation.
type runContext struct {
	lazyContext
	run *Run
}

func (c *runContext) Value(key any) any {
	if key == (runKey{}) {
		return c.run
	}
	return c.value(key)
}

// NewRun begins a run and returns the context that its calls are made with. It
// never fails: a run that may not exist refuses every call, and [Run.Err] says
// why. End the run when its work is done.
//
// A handler's own calls belong to the run that the handler was called in:
// NewRun within a call returns a run that refuses every call.
func (a *App) NewRun(ctx context.Context, o RunOptions) (context.Context, *Run) {
	r := &Run{app: a, id: a.nextID(), surface: o.Surface, request: o.Request, log: o.Log}
	r.ctx.run = r
	r.ctx.parent = ctx
	switch fault := o.Principal.fault(); {
	case a.Freeze() != nil:
		r.err = &Error{Code: CodeUnavailable, cause: a.freeze}
	case fault != "":
		r.err = &Error{Code: CodeUnauthenticated, cause: errors.New("run without a valid principal: " + fault)}
	case !o.Surface.single():
		r.err = &Error{Code: CodeInternal, cause: errors.New("RunOptions.Surface is not one surface")}
	case FromContext(ctx) != nil:
		r.err = &Error{Code: CodeForbidden, cause: errors.New("NewRun within a call: use the context that the handler was given")}
	}
	if r.err != nil {
		r.err = r.err.completed(a.errorOptions())
		a.logger.ErrorContext(ctx, "run refused", slog.String("surface", o.Surface.String()), slog.Any("cause", r.err.cause))
		r.principal = Principal{Kind: KindAnonymous}
	} else {
		r.principal = *o.Principal
	}
	r.key = r.principal.Key()
	return &r.ctx, r
}

func (a *App) errorOptions() ErrorOptions {
	return ErrorOptions{SupportContact: a.options.SupportContact}
}

// RunFromContext returns the run that ctx belongs to, or nil.
func RunFromContext(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Err says why the run refuses every call, or nil.
func (r *Run) Err() error {
	if r == nil || r.err == nil {
		return nil
	}
	return r.err
}

// ID returns the run's id in the records of this process.
func (r *Run) ID() ID {
	if r == nil {
		return 0
	}
	return r.id
}

// Principal returns a copy of the run's principal, nil for a nil Run.
func (r *Run) Principal() *Principal {
	if r == nil {
		return nil
	}
	return r.principal.clone()
}

// Surface returns the way in that the run came by.
func (r *Run) Surface() Surface {
	if r == nil {
		return InProcess
	}
	return r.surface
}

// Log tells the caller something while a call works, on surfaces that carry
// logs (MCP before 2026-07-28). The text is sent: it must hold nothing
// internal. It is for the run's caller, not a logger for the operator.
func (r *Run) Log(level slog.Level, text string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log != nil && !r.ended {
		r.log(level, text)
	}
}

// End ends the run: calls under way are canceled and later ones refused. Ending
// twice does nothing.
func (r *Run) End() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.ctx.close()
}
