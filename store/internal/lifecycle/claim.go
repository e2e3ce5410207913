package lifecycle

import (
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Missing is how a proposal stands in the way of a claim that is not there, or
// not for this call.
func Missing(id string) ambit.Standing {
	return ambit.Standing{ID: id, State: ambit.ProposalExpired}
}

// Claim gives the row to a call. Made reports that it did; where it did not, the
// row stands in the way, and is to be written where changed is true.
func (r *Row) Claim(c ambit.Claim, now time.Time) (standing ambit.Standing, made, changed bool) {
	if r.Kind == ambit.KindConsent || r.Operation != c.Binding.Operation() {
		return Missing(c.Approval.ID), false, false
	}
	changed = r.Lapse(now)
	level := r.Proposal.Level
	allowed := r.State == ambit.ProposalApproved && level >= c.Approval.Level ||
		r.State == ambit.ProposalPending && level == ambit.Confirm && c.Approval.Level == ambit.Confirm
	switch {
	case !allowed:
		return r.Standing(), false, changed
	case r.Proposal.Preview != c.Approval.Preview:
		r.close(ambit.ProposalExpired, now)
		return r.Standing(), false, true
	}
	r.State, r.Attempt, r.Key = ambit.ProposalExecuting, c.Attempt, c.Key
	r.Claimed, r.Lapses = now, now.Add(c.Lease)
	return ambit.Standing{}, true, true
}

// Finish ends the claim, also one whose lease has lapsed. It reports whether the
// claim was there to be finished.
func (r *Row) Finish(c ambit.Claim, e ambit.Ending, now time.Time) bool {
	if !r.held(c) {
		return false
	}
	state := ambit.ProposalSucceeded
	if e.Failed {
		state = ambit.ProposalFailed
	}
	r.Finished, r.Outcome = now, slices.Clone(e.Outcome)
	r.close(state, now)
	return true
}

// EndedBy reports whether this claim is the one that has ended the row, which a
// person has not done then.
func (r *Row) EndedBy(c ambit.Claim) bool {
	ended := r.State == ambit.ProposalSucceeded || r.State == ambit.ProposalFailed
	return ended && r.Attempt == c.Attempt && !slices.ContainsFunc(r.Decisions, func(d approval.Decision) bool {
		return d.Verdict == approval.SettleSucceeded || d.Verdict == approval.SettleFailed
	})
}

// Release gives the row back as it was before the claim, and reports whether the
// claim was there.
func (r *Row) Release(c ambit.Claim) bool {
	if !r.held(c) {
		return false
	}
	r.State = ambit.ProposalApproved
	if r.ExecuteBy.IsZero() { // confirmed, not approved
		r.State = ambit.ProposalPending
	}
	r.Attempt, r.Key, r.Claimed, r.Lapses = ambit.Attempt{}, ambit.Digest{}, time.Time{}, time.Time{}
	return true
}

func (r *Row) held(c ambit.Claim) bool {
	return r.Attempt == c.Attempt && (r.State == ambit.ProposalExecuting || r.State == ambit.ProposalUnknown)
}

// KeyState is the state of a key whose call the row covers.
func (r *Row) KeyState() ambit.RecordState {
	switch r.State {
	case ambit.ProposalSucceeded, ambit.ProposalFailed:
		return ambit.RecordFinished
	case ambit.ProposalExecuting:
		return ambit.RecordRunning
	}
	return ambit.RecordUnknown
}
