package ambit

import "time"

// Replay is what the repetition of a call that must happen once is given of the
// outcome that the call had.
type Replay uint8

// The values of [Spec.Replay].
const (
	// ReplayOutcome gives it again as it was; it is kept for that, sealed.
	ReplayOutcome Replay = iota
	// ReplayReceipt gives a [Receipt]. Nothing else of the outcome is kept, neither
	// in a ledger nor with a proposal: it is for results that must be seen once,
	// such as a new password, or must not lie in another place, such as personal
	// data.
	ReplayReceipt
)

// Receipt says that a call was made of whose outcome nothing is kept, because its
// capability wants that ([ReplayReceipt]) or because it was too large. It is a
// part of the error that a repetition gets: the output is not there, and nothing
// else may pass for one.
type Receipt struct {
	// Succeeded reports whether the call gave a result. The code of the error is
	// CodeConflict then, and its Executed is ExecutedYes. Otherwise the call failed,
	// and code and Executed are those that it failed with; CodeConflict and
	// ExecutedNo where a person has found out that it did not take effect.
	Succeeded bool `json:"succeeded"`
	// Ended is when it ended, by the clock of the process that made it. Zero: not
	// known, as of a call that a person has settled.
	Ended time.Time `json:"ended,omitzero"`
	// Call and Run are its ids as records have them ([Event]), and Proposal that of
	// the proposal that allowed it. Empty: not known, or none.
	Call     string `json:"call,omitempty"`
	Run      string `json:"run,omitempty"`
	Proposal string `json:"proposal,omitempty"`
}

// receipt returns what a repetition of the call gets instead of its outcome.
func (c *Call) receipt(failure *Error) *Error {
	r := &Receipt{
		Succeeded: failure == nil, Ended: time.Now().UTC().Truncate(time.Millisecond), Call: c.id.String(), Run: c.run.id.String(), Proposal: c.once.claim.Approval.ID,
	}
	if failure == nil {
		return succeeded(r)
	}
	e := &Error{
		Code: failure.Code, Message: "The call failed, and what it answered is not kept.",
		Hint: findOut, Executed: failure.Executed, Receipt: r,
	}
	if failure.Executed == ExecutedYes {
		e.Hint = doNotRepeat
	}
	return e
}

const (
	findOut     = "Find out what it did before you make the call again, with a new key."
	doNotRepeat = "Do not make it again. The receipt has the ids under which it is on record."
)

// succeeded answers the repetition of a call that gave a result which is not kept.
func succeeded(r *Receipt) *Error {
	return &Error{
		Code: CodeConflict, Message: "The call was made, and its result is not kept.",
		Hint: doNotRepeat, Executed: ExecutedYes, Receipt: r,
	}
}

// unkept answers a call whose earlier outcome cannot be opened, or was never
// there: a person who settled the call has said what became of it, and no more.
func (c *Call) unkept() *Error {
	o := c.once
	switch s := o.record.By; {
	case s.State == ProposalSucceeded:
		return succeeded(&Receipt{Succeeded: true, Proposal: s.ID})
	case s.State == ProposalFailed && len(o.record.Outcome) == 0:
		return &Error{
			Code: CodeConflict, Message: "A person has found out that the call did not take effect.",
			Hint: "Make it again with a new idempotency key, so that it is asked about anew.", Executed: ExecutedNo, Receipt: &Receipt{Proposal: s.ID},
		}
	}
	return &Error{
		Code: CodeConflict, Message: o.named() + " has ended, and its answer was not kept.",
		Hint: findOut, Executed: ExecutedUnknown,
	}
}
