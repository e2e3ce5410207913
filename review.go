package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Review is what a person is shown who decides about a proposal, as it is now.
type Review struct {
	// Capability, Title, Description and Effect say what would be called. Title is
	// never empty: it is the name where the contract has no title.
	Capability, Title, Description string
	Effect                         Effect
	// Input is the complete input in canonical form, with secret values replaced.
	Input json.RawMessage
	// Status is the capability's own sentence about the call (WithStatus). May
	// be empty.
	Status string
	// Preview is what the call would change; nil where the capability cannot say.
	// Digest is that of the preview, zero where there is none: the decision is
	// about it and no other. Version is the target's version in it.
	Preview *Preview
	Digest  Digest
	Version string
	// Concern is what the application's [Monitor] had against the call when it was
	// asked for, in the monitor's words. Empty: nothing.
	Concern string
	// Proposal is the proposal as it would be asked now: its Preview, Version,
	// Input and Summary are those of the review.
	Proposal Proposal
}

// Review shows what the call that a stored proposal is about would do if it were
// made now, by its requester: the principal is resolved afresh, everything that
// admits the call is asked again, and the preview is computed anew. It is for
// channels in which persons decide, and no part of any run: a context that
// belongs to one is CodeNotFound.
//
// CodeForbidden says that the requester may not make the call any more,
// CodeConflict that the capability is another one by now, and
// CodeConfirmationUnavailable that nobody decides in this process ([App.CanReview]). Without
// [Options.Resolve] the requester is judged as it was stored. That its credential
// has ended is no matter: the call itself will need one that has not.
func (a *App) Review(ctx context.Context, p Proposal) (review Review, err error) {
	failure := a.reviewing(ctx, &p, &review)
	if failure == nil {
		return review, nil
	}
	return Review{}, a.unreviewed(ctx, &p, failure)
}

// unreviewed tells the operator why a proposal cannot be shown, and completes what
// the person is told.
func (a *App) unreviewed(ctx context.Context, p *Proposal, failure *Error) *Error {
	if failure.cause != nil {
		a.logger.WarnContext(ctx, "a proposal cannot be reviewed", "capability", p.Binding.Capability, "code", string(failure.Code), "cause", failure.cause)
	}
	return failure.completed(a.errorOptions())
}

func (a *App) reviewing(ctx context.Context, p *Proposal, review *Review) *Error {
	if a.Freeze() != nil {
		return &Error{Code: CodeUnavailable, cause: a.freeze}
	}
	if RunFromContext(ctx) != nil {
		return &Error{Code: CodeNotFound, cause: errors.New("App.Review within a run: only persons decide, and not by a call")}
	}
	e := a.byName[p.Binding.Capability]
	if e == nil || e.hash != p.Binding.Contract {
		return &Error{Code: CodeConflict, Message: "What this proposal would call is no longer what it was when it was asked for.", Hint: "It has to be asked for anew."}
	}
	text, _, concern, failure := a.openShown(p)
	if failure != nil {
		return failure
	}
	status, shown, failure := a.reviewed(ctx, p, e, text)
	if failure != nil {
		return failure
	}
	spec := &e.contract.spec
	*review = Review{
		Capability: spec.Name, Title: spec.title(), Description: spec.Description, Effect: spec.Effect,
		Input: e.contract.in.Redact(nil, text), Status: status, Preview: shown.preview, Digest: shown.digest, Version: shown.version,
		Concern: concern, Proposal: *p,
	}
	shown.concern = concern
	a.keepShown(&review.Proposal, e, text, shown)
	return nil
}

// reviewed admits the call of a proposal, as it is kept, and computes status and
// preview.
func (a *App) reviewed(ctx context.Context, p *Proposal, e *entry, text []byte) (status string, shown shownPreview, failure *Error) {
	defer func() {
		if v := recover(); v != nil {
			failure = &Error{Code: CodeInternal, cause: a.panicked(ctx, p.Binding.Capability, v)}
		}
	}()
	run, failure := a.requesterRun(ctx, p)
	if failure != nil {
		return "", shownPreview{}, failure
	}
	defer run.End()
	call := &Call{run: run, entry: e, id: a.nextID(), surface: InProcess, reason: p.Reason, input: len(text)}
	call.away.Store(1)
	call.ctx.call, call.ctx.parent = call, &run.ctx
	a.active.add(call)
	defer a.active.remove(call)
	defer call.end()
	in := &invocation{Request: Request{Name: e.dotted(), Input: text}, entry: e}
	if failure := a.readmit(call, in); failure != nil {
		return "", shownPreview{}, failure
	}
	if shown, failure = a.preview(call, in); failure != nil {
		return "", shownPreview{}, failure
	}
	return in.frame.status(), shown, nil
}

// requesterRun begins the run in which a proposal is reviewed. It can only read.
func (a *App) requesterRun(ctx context.Context, p *Proposal) (*Run, *Error) {
	requester := p.Requester.clone()
	requester.Expires = time.Time{}
	_, run := a.NewRun(ctx, RunOptions{Principal: requester, Mode: ModePlan, Agent: p.Agent, Request: p.Request})
	if run.err != nil {
		return nil, run.err
	}
	run.via, run.prompter = p.Via, nil
	run.SetMode(ModePlan)
	return run, nil
}

// readmit asks everything about a proposal's call again that would admit it.
func (a *App) readmit(call *Call, in *invocation) *Error {
	gone := &Error{Code: CodeForbidden, Message: "Whoever asked for this may not make the call any more.", Hint: "Nothing can be decided here."}
	ctx, e := call.ctx.parent, in.entry
	now := time.Now()
	switch failure := a.fresh(ctx, call.run, now, now); {
	case failure != nil && failure.Code == CodeUnauthenticated:
		return gone
	case failure != nil:
		return failure
	}
	switch refused := a.admit(ctx, call.run, e, true, nil); { // exposure is for the call to see
	case refused.hides():
		return gone
	case refused.refused():
		return a.refuse(e, e.dotted(), refused)
	}
	if failure := a.loaded(call, e); failure != nil {
		return failure
	}
	in.frame = e.implementation.Load().binding.newFrame()
	faults := in.frame.decode(e.contract.in, in.Input, a.options.MaxDepth)
	if len(faults) == 0 {
		faults = crossFaults(in.frame.rules(ctx))
	}
	if len(faults) > 0 {
		return invalidInput(faults)
	}
	return a.authorizeInput(call, in.frame)
}

// Permits returns nil where a principal holds a permission now, for channels in
// which persons decide: it is resolved afresh where the application has
// [Options.Resolve], and the [Policy] judges. CodeForbidden says that it does
// not, CodeUnavailable that nobody knows.
func (a *App) Permits(ctx context.Context, p *Principal, permission string) error {
	if _, failure := a.permits(ctx, p, permission); failure != nil {
		return failure.completed(a.errorOptions())
	}
	return nil
}

// permits returns the principal as it is now where it holds the permission.
func (a *App) permits(ctx context.Context, p *Principal, permission string) (now *Principal, failure *Error) {
	defer func() {
		if v := recover(); v != nil {
			now, failure = nil, &Error{Code: CodeUnavailable, cause: a.panicked(ctx, "", v)}
		}
	}()
	forbidden := &Error{Code: CodeForbidden}
	if p.fault() != "" || permission == "" {
		return nil, forbidden
	}
	if a.options.Resolve != nil {
		key := p.Key()
		var err error
		switch p, err = a.resolve(ctx, p); {
		case err != nil:
			return nil, &Error{Code: CodeUnavailable, cause: err}
		case p == nil:
			return nil, forbidden
		case p.fault() != "" || p.Key() != key:
			return nil, &Error{Code: CodeUnavailable, cause: errors.New("Options.Resolve returned another or no valid principal for " + key)}
		}
	}
	if !p.Expires.IsZero() && !time.Now().Before(p.Expires) {
		return nil, forbidden
	}
	switch refused := a.permitted(ctx, p, permission); {
	case refused.hides():
		return nil, forbidden
	case refused.refused():
		return nil, &Error{Code: CodeUnavailable, cause: refused.cause}
	}
	return p, nil
}
