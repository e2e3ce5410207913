package ambit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-dev/ambit/schema"
)

// askAgain is when to repeat a call that waits for a person.
const askAgain = 5 * time.Second

// Approved is whose word a call runs by, see [Call.Approval].
type Approved struct {
	// ID names the proposal. It is empty for the consent of the run's own person
	// where the application keeps no proposals.
	ID string
	// Level is whose word it was. ApprovalUnset: nobody's was needed.
	Level Approval
	// Version is the version of the target in the preview that was allowed, see
	// [Preview]. Empty: there was none.
	Version string
}

// Approval returns what was allowed. A handler whose capability has a preview
// with a version changes that version and no other: it names it to whatever it
// changes (a WHERE clause, an If-Match header) and returns CodeConflict where it
// is gone, because the target can change between the last look and the change.
// It is zero where the call needed nobody's word, and within a preview.
func (c *Call) Approval() Approved {
	if c == nil || c.once == nil || c.is(previewing) {
		return Approved{}
	}
	c.once.looked.Store(true)
	return c.once.approved
}

// approve is the part of the gate that waits for nobody: the caller confirms, or
// a person decides where no program can reach, and the call is repeated.
func (a *App) approve(call *Call, in *invocation, need Approval) *Error {
	if call.run.who().Anonymous() { // a verified agent is nobody to ask for
		return &Error{Code: CodeUnauthenticated, Message: "This call needs a confirmation or an approval, and only callers who show a credential can get one."}
	}
	if failure := a.bind(call, in); failure != nil {
		return failure
	}
	o := call.once
	if in.Repeats != (Digest{}) && in.Repeats != o.operation {
		return confirmationInvalid("unknown or for another call")
	}
	shown, unshown := a.previewAtWork(call, in)
	o.claim.Approval = ApprovalClaim{Level: need, Preview: shown.digest}
	o.approved = Approved{Level: need, Version: shown.version}
	var failure *Error
	switch {
	case need == Confirm && in.Confirmation != "":
		failure = a.confirm(call, in, shown, unshown)
	case unshown != nil && need == Confirm: // without a confirmation it is another call
		failure = unshown
	case unshown != nil:
		failure = a.answered(call, unshown)
	default:
		failure = a.propose(call, in, need, shown)
	}
	o.approved.ID = o.claim.Approval.ID
	return failure
}

// previewAtWork computes the preview in a slot of the call's own: it is work.
func (a *App) previewAtWork(call *Call, in *invocation) (shownPreview, *Error) {
	if !in.frame.previews() {
		return shownPreview{}, nil
	}
	if failure := a.takeSlot(call, time.Now()); failure != nil {
		return shownPreview{}, failure
	}
	defer func() {
		a.leaveSlot(call)
		call.slots = 0 // the call itself has not begun
	}()
	shown, failure := a.preview(call, in)
	if failure != nil && call.ctx.Err() != nil {
		if halted := a.halted(call); halted != nil {
			return shownPreview{}, halted
		}
	}
	return shown, failure
}

// propose asks for the proposal that answers for the call.
func (a *App) propose(call *Call, in *invocation, need Approval, shown shownPreview) *Error {
	p := a.proposal(call, in, need, shown)
	about := Inquiry{May: func(ctx context.Context, decider *Principal) (*Principal, error) {
		now, refused := a.permits(ctx, decider, p.DecidePermission)
		if refused != nil {
			return nil, refused
		}
		return now, nil
	}}
	if in.concern == "" { // a doubt about this very call takes somebody who is asked about it
		form, text := in.entry.contract.in, in.text // and not in, which would go to the heap with every call
		about.Fits = func(s *schema.Schema) bool {
			return len(s.Check(form.Redact(nil, text), a.options.MaxDepth)) == 0
		}
	}
	var standing Standing
	err := a.withLedger(call, &call.ctx, func(ctx context.Context) (err error) {
		standing, err = a.options.Approver.Propose(ctx, p, about)
		return err
	})
	switch {
	case err != nil:
		return call.unanswered(err)
	case standing.Operation != call.once.operation:
		return &Error{Code: CodeUnavailable, cause: fmt.Errorf("the approver answered for another operation with the proposal %s", standing.ID)}
	}
	call.once.claim.Approval.ID = standing.ID
	if need >= Human && standing.State == ProposalPending {
		a.checkReviewable(call, in, p, shown)
	}
	if need == Confirm && standing.State == ProposalPending && standing.Level == Confirm {
		return a.confirmationRequired(call, p.DecideWithin, shown)
	}
	return call.stand(standing)
}

// answered answers a call whose preview fails with what became of it, where it
// was made: what it did may be the very reason.
func (a *App) answered(call *Call, unshown *Error) *Error {
	o := call.once
	if o.claim.Key != (Digest{}) { // and it was not made under this key: it is another call
		return unshown
	}
	var standing Standing
	err := a.withLedger(call, &call.ctx, func(ctx context.Context) (err error) {
		standing, err = a.options.Approver.Answering(ctx, o.claim.Binding)
		return err
	})
	switch {
	case err != nil:
		return call.unanswered(err)
	case standing.Operation == o.operation && standing.State.begun():
		o.claim.Approval.ID = standing.ID
		return call.stand(standing)
	}
	return unshown
}

// proposal describes the call for those who are asked about it.
func (a *App) proposal(call *Call, in *invocation, need Approval, shown shownPreview) Proposal {
	run, spec, o := call.run, &in.entry.contract.spec, call.once
	p := Proposal{
		Binding: o.claim.Binding, Level: need, Quorum: max(spec.Quorum, 1), Requester: run.requester(),
		Via: run.via, Agent: call.Agent(), Run: run.id, Call: call.id, Request: run.request,
		Title: spec.title(), Effect: spec.Effect, Reason: call.reason, Key: o.claim.Key,
		DecidePermission: a.decidePermission(spec),
		DecideWithin:     orDefault(spec.DecideWithin, a.options.DecideWithin), ExecuteWithin: orDefault(spec.ExecuteWithin, a.options.ExecuteWithin),
	}
	shown.concern = in.concern
	a.keepShown(&p, in.entry, in.text, shown)
	if need == Confirm {
		p.Quorum, p.DecideWithin = 1, orDefault(spec.ConfirmWithin, a.options.ConfirmWithin)
	}
	return p
}

// requester is who asks. Behind a principal that a handler delegates to stand
// all those who led to the call.
func (r *Run) requester() *Principal {
	who := r.who()
	for above := r.above; above != nil; above = above.above {
		if cause := above.who(); cause.Key() != who.Key() && !slices.Contains(who.Behind, cause.Key()) {
			who = who.clone()
			who.Behind = append(append(who.Behind, cause.Key()), cause.Behind...)
		}
	}
	return who
}

// stand says what the state of a proposal means for the call that it is about:
// nil where the call may go on, or its outcome is to be repeated.
func (c *Call) stand(s Standing) *Error {
	o := c.once
	awaited := &Awaited{ID: s.ID, Level: s.Level, State: s.State, Operation: o.operation}
	switch s.State {
	case ProposalApproved:
		return nil
	case ProposalPending:
		awaited.DecideBy, awaited.URL = s.DecideBy, s.URL
		return &Error{
			Code: CodeApprovalPending, Message: "This call waits for a person's decision, and has not run.",
			Hint:       "Repeat the very same call later: it runs once it has been approved.",
			RetryAfter: askAgain, Approval: awaited,
		}
	case ProposalDenied, ProposalRevoked:
		awaited.Reason = s.Reason
		e := &Error{
			Code: CodeApprovalDenied, Message: "A person has denied this call.",
			Hint: "Do not repeat it; say what you wanted to do, or propose another way.", Approval: awaited,
		}
		if s.State == ProposalRevoked {
			e.Message = "A person has taken the approval of this call back."
		}
		return e
	case ProposalExecuting:
		o.told = true
		return &Error{
			Code: CodeConflict, Message: "This very call is running.", Hint: "Repeat it to get its answer.",
			RetryAfter: repeatAfter, Executed: ExecutedUnknown, Approval: awaited,
		}
	case ProposalUnknown:
		o.told = true
		return &Error{
			Code: CodeConflict, Message: "This very call was interrupted, and nobody can tell whether it took effect.",
			Hint: "A person has to find out what it did and settle it.", Executed: ExecutedUnknown, Approval: awaited,
		}
	case ProposalSucceeded, ProposalFailed:
		o.record = Record{State: RecordFinished, Operation: o.operation, Outcome: s.Outcome, By: s}
		return nil
	case ProposalExpired:
		return o.lapsed(s)
	}
	return &Error{Code: CodeUnavailable, cause: fmt.Errorf("the proposal %s is in the state %d, which is none", s.ID, s.State)}
}

// lapsed says what a proposal means that can be used no more.
func (o *once) lapsed(s Standing) *Error {
	switch {
	case s.Preview != o.claim.Approval.Preview && s.Preview != Digest{}:
		return changedSince(o.claim.Approval.Level == Confirm)
	case o.claim.Approval.Level == Confirm:
		return confirmationInvalid("expired")
	}
	return &Error{
		Code: CodeConflict, Message: "This call was not made in the time for which it was allowed.",
		Hint: "Make the call again, so that it is asked about anew.",
	}
}

// confirmationRequired answers a call that was prepared, with what confirms it.
func (a *App) confirmationRequired(call *Call, within time.Duration, shown shownPreview) *Error {
	o := call.once
	c := confirmation{id: o.claim.Approval.ID, preview: shown.digest, expires: time.Now().Add(within)}
	look := "Look at what it would do"
	if shown.text == nil {
		look = "What it would do is shown by its input alone"
	}
	return &Error{
		Code: CodeConfirmationRequired, Message: "This call has to be confirmed, and has not run.",
		Hint: look + "; to do it, repeat the very same call with approval.token " + howToConfirm(call.run.surface) + ".",
		Approval: &Awaited{
			ID: c.id, Level: Confirm, State: ProposalPending, Operation: o.operation, Token: c.seal(a.seals.confirmations, o.operation, call.Agent()), Expires: c.expires, Preview: shown.text,
		},
	}
}

// howToConfirm says where a surface takes a confirmation.
func howToConfirm(s Surface) string {
	switch s {
	case MCP:
		return "as \"dev.ambit/confirmation\" in _meta"
	case CommandLine:
		return "as --confirmation"
	case InProcess:
		return "by ambit.WithConfirmation"
	}
	return "in the header Ambit-Confirmation"
}

// consent records what the run's own person has answered to a prompter. An
// answer that cannot be recorded counts for nothing.
func (a *App) consent(call *Call, in *invocation, shown shownPreview, allowed bool) *Error {
	if !a.approves() || call.run.who().Anonymous() {
		return nil
	}
	p := a.proposal(call, in, Confirm, shown)
	err := a.withLedger(call, context.WithoutCancel(call.ctx.parent), func(ctx context.Context) error {
		return a.options.Approver.Consent(ctx, p, allowed)
	})
	if err != nil {
		return call.unanswered(err)
	}
	return nil
}
