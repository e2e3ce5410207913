package ambit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// RunOptions say on whose behalf a run works, where it came from, and what it
// may do.
type RunOptions struct {
	// Principal is who is calling. Required: a run without one refuses every
	// call. It must not be changed afterwards. A run within a run inherits it,
	// and may name no other (see [App.Delegate]).
	Principal *Principal
	// Surface is the way in that the calls of this run are judged by. Zero:
	// in-process. Code that serves a surface sets it; a request never does.
	Surface Surface
	// Mode is how much the run may do without asking. Zero: the surface's,
	// see [Options.Modes]. Within a run it can only be made stricter.
	Mode Mode
	// Prompter asks the run's own person. Nil: there is no one to ask; a run
	// within a run then asks through the outer one's.
	Prompter Prompter
	// Session keeps what that person allows for a session. Nil: a session of
	// the run's own, or the outer run's.
	Session *Session
	// Budget limits what the run may use. Within a run it limits further.
	Budget Budget
	// Capabilities are of this run alone and of the runs within it, beside the
	// application's: tools that a browser answers, say. They take no name that
	// is in use; a mistake in one makes the run refuse every call.
	Capabilities []AnyCapability
	// Agent is the agent that has proved to carry the request. Zero: none. A run
	// within a run has the outer one's.
	Agent AgentIdentity
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
	app      *App
	id       ID
	identity *identity // shared by the runs of one principal
	key      string    // the principal's key
	surface  Surface
	via      Surface // every surface that led here
	request  string
	agent    AgentIdentity
	above    *Run   // the run that this one was made in
	depth    int    // of runs within runs
	delegate string // key of the principal who delegated, if one did
	err      *Error // why the run refuses everything
	ctx      runContext

	mode     *atomic.Uint32 // the Mode that the whole family shares
	cap      Mode           // the strictest that this run and those above demand
	prompter Prompter
	session  *Session
	budget   *budget
	own      []*entry // capabilities of this run alone

	// first holds what the fields above point to in a run that begins it, so
	// that a run is one allocation.
	first struct {
		identity identity
		session  Session
		mode     atomic.Uint32
	}

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

// Value finds the run.
func (c *runContext) Value(key any) any {
	switch key {
	case runKey{}:
		return c.run
	case callKey{}: // the call that the run was made in
		return c.parent.Value(key)
	}
	return c.value(key)
}

// RunFromContext returns the run that ctx belongs to, or nil.
func RunFromContext(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// logged is the id of the request that the run answers, for a line of the log: who
// sent it knows the call by no other. It is nothing where there is none.
func (r *Run) logged() slog.Attr {
	if r == nil || r.request == "" {
		return slog.Attr{}
	}
	return slog.String("request", r.request)
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

// Principal returns a copy of the run's principal as it was last resolved, nil
// for a nil Run.
func (r *Run) Principal() *Principal {
	if r == nil {
		return nil
	}
	return r.who().clone()
}

func (r *Run) who() *Principal { return r.identity.principal.Load() }

// Surface returns the way in that the run came by.
func (r *Run) Surface() Surface {
	if r == nil {
		return InProcess
	}
	return r.surface
}

// Via returns every surface that led to the run: its own, and those of the runs
// that it was made in.
func (r *Run) Via() Surface {
	if r == nil {
		return InProcess
	}
	return r.via
}

// Mode returns how much the run may do at the moment without asking.
func (r *Run) Mode() Mode {
	if r == nil {
		return ModePlan
	}
	return r.modeFor(ModeUnset)
}

// modeFor is the run's mode, or the stricter one that a call asks for.
func (r *Run) modeFor(asked Mode) Mode {
	return Mode(r.mode.Load()).stricter(r.cap).stricter(asked)
}

// SetMode changes the mode of the run and of every run that shares its gate:
// those it was made in and those made in it. It reaches work under way: a call
// that waits for an answer is judged by the new mode when the answer comes.
// ModeUnset means ModePlan, the strictest.
func (r *Run) SetMode(m Mode) {
	if r == nil {
		return
	}
	if m == ModeUnset || m > ModeAuto {
		m = ModePlan
	}
	r.mode.Store(uint32(m))
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
