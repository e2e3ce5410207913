package ambit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ambit-dev/ambit/internal/plural"
)

// MaxRunDepth is how deep runs within runs may go unless [Options.MaxRunDepth]
// says otherwise.
const MaxRunDepth = 3

// Delegator is what a [Policy] implements that lets handlers act as another
// principal.
type Delegator interface {
	// AllowDelegate reports whether the handler of a capability, called by
	// from, may make calls as to. An error refuses.
	AllowDelegate(ctx context.Context, capability string, from, to *Principal) (bool, error)
}

// NewRun begins a run and returns the context that its calls are made with. It
// never fails: a run that may not exist refuses every call, and [Run.Err] says
// why. End the run when its work is done.
//
// With a context that belongs to a run already (within a handler, say) the new
// run is part of it: it has the same principal, shares gate, session and budget,
// ends with the call that it was made in, and what its calls may do is bounded
// by that call's effect and by the scopes and surfaces that led to it. Options
// can only lower that. Runs may go 3 deep, or [Options.MaxRunDepth].
func (a *App) NewRun(ctx context.Context, o RunOptions) (context.Context, *Run) {
	return a.newRun(ctx, o, false)
}

// Delegate begins a run within a call, for another principal: what a handler
// does when it needs the application's own authority, or another user's. The
// application's [Policy] must allow it by implementing [Delegator], and every
// event of such a run names who delegated. Everything else is as in
// [App.NewRun]: permissions are those of the new principal, and scopes, effect,
// mode and budget of the call still bound it.
func (a *App) Delegate(ctx context.Context, o RunOptions) (context.Context, *Run) {
	return a.newRun(ctx, o, true)
}

func (a *App) newRun(ctx context.Context, o RunOptions, delegate bool) (context.Context, *Run) {
	r := &Run{app: a, id: a.nextID(), surface: o.Surface, via: o.Surface, request: o.Request, agent: o.Agent, log: o.Log}
	r.ctx.run = r
	r.ctx.parent = ctx
	if err := r.begin(ctx, o, delegate); err != nil {
		r.refuse(ctx, err)
	}
	return &r.ctx, r
}

// adjust lets the application change the options of a run.
func (a *App) adjust(ctx context.Context, o RunOptions) (adjusted RunOptions, failure *Error) {
	defer func() {
		if v := recover(); v != nil {
			failure = &Error{Code: CodeInternal, cause: a.panicked(ctx, "", v)}
		}
	}()
	adjusted = a.options.RunOptions(ctx, o)
	adjusted.Principal, adjusted.Surface, adjusted.Request, adjusted.Agent, adjusted.Log = o.Principal, o.Surface, o.Request, o.Agent, o.Log
	return adjusted, nil
}

// refuse makes the run one that refuses every call.
func (r *Run) refuse(ctx context.Context, err *Error) {
	a := r.app
	r.err = err.completed(a.errorOptions())
	a.logger.ErrorContext(ctx, "run refused", slog.String("surface", r.surface.String()), slog.String("code", string(err.Code)), r.logged(), slog.Any("cause", err.cause))
	r.become(&Principal{Kind: KindAnonymous}, time.Time{})
	r.mode = &r.first.mode
	r.mode.Store(uint32(ModePlan))
}

func refusedRun(code Code, format string, args ...any) *Error {
	return &Error{Code: code, cause: fmt.Errorf(format, args...)}
}

// begin fills in what the options and the run above give, or says why there may
// be no such run.
func (r *Run) begin(ctx context.Context, o RunOptions, delegate bool) *Error {
	a := r.app
	if a.Freeze() != nil {
		return &Error{Code: CodeUnavailable, cause: a.freeze}
	}
	above := RunFromContext(ctx)
	if above == nil && a.options.RunOptions != nil {
		var failure *Error
		if o, failure = a.adjust(ctx, o); failure != nil {
			return failure
		}
	}
	r.prompter, r.session, r.cap = o.Prompter, o.Session, o.Mode
	switch {
	case !o.Surface.single():
		return refusedRun(CodeInternal, "RunOptions.Surface is not one surface")
	case o.Mode > ModeAuto:
		return refusedRun(CodeInternal, "RunOptions.Mode is none")
	case o.Budget.fault() != "":
		return refusedRun(CodeInternal, "%s", o.Budget.fault())
	}
	switch {
	case above != nil && above.err != nil:
		return above.err
	case above != nil && above.app != a:
		return refusedRun(CodeInternal, "the context belongs to a run of another application")
	case above != nil:
		if failure := r.beginWithin(ctx, above, o, delegate); failure != nil {
			return failure
		}
	case delegate:
		return refusedRun(CodeInternal, "App.Delegate outside a call")
	default:
		if failure := r.beginFirst(o); failure != nil {
			return failure
		}
	}
	if failure := r.addOwn(o.Capabilities); failure != nil {
		return failure
	}
	return r.addContext(ctx)
}

// beginFirst begins a run that is part of no other.
func (r *Run) beginFirst(o RunOptions) *Error {
	a, now := r.app, time.Now()
	if fault := o.Principal.fault(); fault != "" {
		return refusedRun(CodeUnauthenticated, "run without a valid principal: %s", fault)
	}
	r.become(o.Principal, now)
	if r.session == nil {
		r.session = &r.first.session
	}
	r.budget = newBudget(o.Budget, nil, now)
	mode := a.modeOf(o.Surface)
	if o.Mode != ModeUnset {
		mode = o.Mode
	}
	r.mode, r.cap = &r.first.mode, ModeUnset
	r.mode.Store(uint32(mode))
	return nil
}

// beginWithin begins a run that is part of another.
func (r *Run) beginWithin(ctx context.Context, above *Run, o RunOptions, delegate bool) *Error {
	a := r.app
	r.above, r.depth = above, above.depth+1
	r.agent = above.agent
	r.via |= above.via
	if limit := orDefault(a.options.MaxRunDepth, MaxRunDepth); r.depth > limit {
		e := exhausted(plural.Of(limit, "level") + " of runs within runs")
		e.cause = errors.New(e.Message)
		return e
	}
	if failure := r.becomeWithin(ctx, above, o.Principal, delegate); failure != nil {
		return failure
	}
	r.mode = above.mode
	if o.Mode == ModeUnset && o.Surface&(Assistant|Schedule|MCP) != 0 {
		r.cap = a.modeOf(o.Surface)
	}
	r.cap = r.cap.stricter(above.cap)
	if r.prompter == nil {
		r.prompter = above.prompter
	}
	if r.session == nil {
		r.session = above.session
	}
	r.budget = newBudget(o.Budget, above.budget, time.Now())
	if r.request == "" {
		r.request = above.request
	}
	r.own = above.own
	return nil
}

// becomeWithin settles for whom a run within a run works.
func (r *Run) becomeWithin(ctx context.Context, above *Run, p *Principal, delegate bool) *Error {
	r.identity, r.key, r.delegate = above.identity, above.key, above.delegate
	if !delegate {
		if p != nil && p.Key() != above.key {
			return refusedRun(CodeForbidden, "a run within a run works for the same principal: use App.Delegate for another")
		}
		return nil
	}
	call := FromContext(ctx)
	if call == nil {
		return refusedRun(CodeInternal, "App.Delegate outside a call")
	}
	if fault := p.fault(); fault != "" {
		return refusedRun(CodeInternal, "App.Delegate without a valid principal: %s", fault)
	}
	if failure := r.app.allowDelegate(ctx, call.Capability(), above.who(), p); failure != nil {
		return failure
	}
	r.become(p, time.Now())
	r.delegate = above.key
	return nil
}

// become gives the run a principal that it does not share with the run above.
func (r *Run) become(p *Principal, now time.Time) {
	r.first.identity.set(p, now, r.app.options.Resolve != nil)
	r.identity, r.key = &r.first.identity, p.Key()
}

func (a *App) allowDelegate(ctx context.Context, capability string, from, to *Principal) (failure *Error) {
	defer func() {
		if v := recover(); v != nil {
			failure = &Error{Code: CodeInternal, cause: a.panicked(ctx, capability, v)}
		}
	}()
	policy, ok := a.policy.(Delegator)
	if !ok {
		return refusedRun(CodeForbidden, "%s delegates, and the application's Policy is no ambit.Delegator", capability)
	}
	switch ok, err := policy.AllowDelegate(ctx, capability, from, to); {
	case err != nil:
		return &Error{Code: CodeUnavailable, cause: err}
	case !ok:
		return refusedRun(CodeForbidden, "the Policy does not let %s delegate to %s", capability, to.Key())
	}
	return nil
}

// addOwn registers the capabilities of this run alone.
func (r *Run) addOwn(capabilities []AnyCapability) *Error {
	own := r.own[:len(r.own):len(r.own)]
	for _, c := range capabilities {
		if c == nil {
			return refusedRun(CodeInternal, "RunOptions.Capabilities holds nil")
		}
		e, fault := r.app.implemented(c)
		if fault == "" && (r.lookup(r.app.byName, e.contract.spec.Name, (*entry).dotted) != nil || r.lookup(r.app.byTool, e.contract.tool, (*entry).toolName) != nil) {
			fault = "its name is in use"
		}
		if fault == "" {
			fault = r.app.approvalFault(&e.contract.spec)
		}
		if fault == "" && e.contract.spec.Approval >= Human {
			fault = "needs the approval of a person, who could not be shown a capability of one run"
		}
		if fault != "" {
			return refusedRun(CodeInternal, "capability %q of one run: %s", c.Contract().Name(), fault)
		}
		own = append(own, e)
		r.own = own
	}
	return nil
}

// addContext puts the application's own values into the run's context.
func (r *Run) addContext(ctx context.Context) (failure *Error) {
	a := r.app
	if a.options.Context == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			failure = &Error{Code: CodeInternal, cause: a.panicked(ctx, "", v)}
		}
	}()
	if made := a.options.Context(ctx, r.Principal()); made != nil {
		r.ctx.parent = made
	}
	return nil
}

// modeOf is the mode of a surface in this application.
func (a *App) modeOf(s Surface) Mode {
	if m, ok := a.options.Modes[s]; ok && m != ModeUnset {
		return m
	}
	return modeOf(s)
}
