package lifecycle

import (
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Decide adds the word of a person, if the row is one that it can be said of.
// The row is to be written either way where lapsed is true.
func (r *Row) Decide(d approval.Decision, now time.Time) (decided, lapsed bool) {
	lapsed = r.Lapse(now)
	if !r.takes(d) {
		return false, lapsed
	}
	d.At = now
	r.Decisions = append(r.Decisions, keptDecision(d))
	switch d.Verdict {
	case approval.Approve:
		if r.approvals() >= r.Proposal.Quorum {
			r.State, r.ExecuteBy = ambit.ProposalApproved, r.executeBy(now)
		}
	case approval.Deny:
		r.close(ambit.ProposalDenied, now)
	case approval.Revoke:
		r.close(ambit.ProposalRevoked, now)
	case approval.SettleSucceeded:
		r.Finished = now
		r.close(ambit.ProposalSucceeded, now)
	case approval.SettleFailed:
		r.Finished = now
		r.close(ambit.ProposalFailed, now)
	}
	return true, lapsed
}

// executeBy is until when a call may be made that is approved now: no longer than
// any of those words holds.
func (r *Row) executeBy(now time.Time) time.Time {
	until := now.Add(r.Proposal.ExecuteWithin)
	for _, d := range r.Decisions {
		if !d.Until.IsZero() && d.Until.Before(until) {
			until = d.Until
		}
	}
	return until
}

func (r *Row) takes(d approval.Decision) bool {
	if r.Kind == ambit.KindConsent {
		return false
	}
	switch d.Verdict {
	case approval.Approve:
		return r.State == ambit.ProposalPending && r.Proposal.Preview == d.Preview &&
			!slices.ContainsFunc(r.Decisions, func(other approval.Decision) bool { return shareSomebody(other, d) })
	case approval.Deny:
		return r.State == ambit.ProposalPending
	case approval.Revoke:
		return r.State == ambit.ProposalPending || r.State == ambit.ProposalApproved
	case approval.SettleSucceeded, approval.SettleFailed:
		return r.State == ambit.ProposalUnknown
	}
	return false
}

// shareSomebody reports whether one person stands behind both decisions.
func shareSomebody(a, b approval.Decision) bool {
	in := func(d approval.Decision, key string) bool { return d.Decider == key || slices.Contains(d.Behind, key) }
	return in(b, a.Decider) || slices.ContainsFunc(a.Behind, func(key string) bool { return in(b, key) })
}

func (r *Row) approvals() (n int) {
	for _, d := range r.Decisions {
		if d.Verdict == approval.Approve {
			n++
		}
	}
	return n
}

// Reconsider takes back the decisions that no longer count. The row is to be
// written where changed or lapsed is true.
func (r *Row) Reconsider(c approval.Change, now time.Time) (changed, lapsed bool) {
	lapsed = r.Lapse(now)
	if r.Kind == ambit.KindConsent || r.State != ambit.ProposalPending && r.State != ambit.ProposalApproved {
		return false, lapsed
	}
	left := slices.DeleteFunc(slices.Clone(r.Decisions), func(d approval.Decision) bool {
		return d.Preview != c.Preview || slices.Contains(c.Without, d.Decider)
	})
	if len(left) == len(r.Decisions) && r.Proposal.Preview == c.Preview && r.Proposal.Version == c.Version {
		return false, lapsed
	}
	if r.State == ambit.ProposalApproved || len(left) < len(r.Decisions) {
		// It is as if nobody had looked at it, with the whole time for that, which also
		// makes the forms void that were shown before.
		r.State, r.ExecuteBy, r.DecideBy = ambit.ProposalPending, time.Time{}, now.Add(r.Proposal.DecideWithin)
	}
	if len(left) == 0 {
		left = nil
	}
	r.Decisions, r.Proposal.Preview, r.Proposal.Version = left, c.Preview, c.Version
	if c.Input != nil {
		r.Proposal.Input, r.Proposal.Summary = slices.Clone(c.Input), slices.Clone(c.Summary)
	}
	return true, lapsed
}
