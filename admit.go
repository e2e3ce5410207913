package ambit

import (
	"context"
	"slices"
	"time"
)

// refusal is why a principal may not reach a capability; the zero refusal is
// none. It is a value because a listing makes many and sends none.
type refusal struct {
	code    Code
	message string
	cause   error
	agent   AgentLevel // that is needed
	lacks   bool       // what refuses is that the principal has not the permission
}

func (r refusal) refused() bool { return r.code != "" }

// hides reports whether a refusal keeps a capability out of a listing. Any
// other refusal is a failure of the listing itself.
func (r refusal) hides() bool {
	switch r.code {
	case CodeNotFound, CodeUnauthenticated, CodeForbidden, CodeInsufficientScope, CodeAgentRequired:
		return true
	}
	return false
}

// verdict is what the policy said about one permission.
type verdict uint8

const (
	notAsked verdict = iota
	held
	lacked
)

// verdicts remembers what the policy said, by permission, for one page of one
// listing. Without room for a permission it is asked every time.
type verdicts []verdict

func (v verdicts) of(permission int) verdict {
	if permission < 0 || permission >= len(v) {
		return notAsked
	}
	return v[permission]
}

// note remembers the answer, unless it is a failure, which no listing outlives.
func (v verdicts) note(permission int, r refusal) {
	if permission < 0 || permission >= len(v) {
		return
	}
	switch {
	case !r.refused():
		v[permission] = held
	case r.hides():
		v[permission] = lacked
	}
}

// Admit checks whether the run's principal may reach a capability on the run's
// surface: exposure, permission, kind of caller, the Authorize hook, the agent that
// carries the request, scopes. The
// name is the tool name on surfaces that use it, see [Request]. Admit has no
// side effect; calls, listings and challenges all use it, so that what
// can be listed is what can be called. The error is what a call would answer.
func (r *Run) Admit(ctx context.Context, name string) error {
	if r == nil {
		return &Error{Code: CodeUnauthenticated}
	}
	if r.err != nil {
		return r.err
	}
	if failure := r.app.fresh(ctx, r, time.Now(), time.Time{}); failure != nil {
		return failure.completed(r.app.errorOptions())
	}
	e := r.find(r.surface, name)
	if e == nil {
		return unknown(name)
	}
	if refused := r.app.admit(ctx, r, e, false, nil); refused.refused() {
		return r.app.refuse(e, name, refused)
	}
	return nil
}

// admit is the one check of rights. nested says that a handler is the caller,
// for which exposure does not matter.
func (a *App) admit(ctx context.Context, run *Run, e *entry, nested bool, known verdicts) (refused refusal) {
	defer func() {
		if v := recover(); v != nil { // of the application's Policy or Authorize
			refused = refusal{code: CodeInternal, cause: a.panicked(ctx, e.contract.spec.Name, v)}
		}
	}()
	spec, who := &e.contract.spec, run.who()
	if !nested && !run.surface.open() && !spec.Expose.Has(run.surface) {
		return refusal{code: CodeNotFound}
	}
	if known.of(e.permission) != held {
		permitted := a.permitted(ctx, who, spec.Permission)
		known.note(e.permission, permitted)
		if permitted.refused() {
			return permitted
		}
	}
	if len(spec.Callers) > 0 && !slices.Contains(spec.Callers, who.Kind) {
		return a.denied(who, "This is not for callers of your kind ("+who.Kind.String()+").")
	}
	if a.options.Authorize != nil {
		if message := a.options.Authorize(ctx, e.public, who); message != "" {
			return a.denied(who, message)
		}
	}
	if refused := run.agentRefusal(e.agent); refused.refused() {
		return refused
	}
	if len(spec.Scopes) > 0 && !run.scoped(spec.Scopes) {
		return refusal{code: CodeInsufficientScope}
	}
	return refusal{}
}

// permitted asks the policy.
func (a *App) permitted(ctx context.Context, who *Principal, permission string) refusal {
	switch permission {
	case Public:
		return refusal{}
	case Authenticated:
		if who.Anonymous() {
			return refusal{code: CodeUnauthenticated}
		}
		return refusal{}
	}
	ok, err := a.policy.Allow(ctx, who, permission)
	switch {
	case err != nil:
		return refusal{code: CodeUnavailable, cause: err}
	case !ok && a.options.HideForbidden && !who.Anonymous():
		return refusal{code: CodeNotFound}
	case !ok:
		refused := a.denied(who, "")
		refused.lacks = true
		return refused
	}
	return refusal{}
}

// denied is forbidden, or unauthenticated for a caller who may yet say who it
// is.
func (a *App) denied(who *Principal, message string) refusal {
	if who.Anonymous() {
		return refusal{code: CodeUnauthenticated}
	}
	return refusal{code: CodeForbidden, message: message}
}

// refuse makes the error of a refusal.
func (a *App) refuse(e *entry, name string, r refusal) *Error {
	switch r.code {
	case CodeNotFound:
		return unknown(name)
	case CodeAgentRequired:
		return agentRequired(r.agent)
	case CodeInsufficientScope:
		return &Error{
			Code: r.code, Message: "Your credential's scopes do not cover this call.",
			Hint: "Obtain a credential with the scopes listed.", Scopes: slices.Clone(e.contract.spec.Scopes),
		}
	}
	return (&Error{Code: r.code, Message: r.message, cause: r.cause}).completed(a.errorOptions())
}

// unknown is the answer for a name that does not exist and for one that the
// caller may not know of.
func unknown(name string) *Error {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return &Error{Code: CodeNotFound, Message: "There is no capability " + quoteName(name) + " here."}
}
