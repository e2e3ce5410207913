// Package lifecycle is what becomes of a proposal: the rules of
// [approval.Store], which every store applies to rows within its own
// transactions. It reads no clock and keeps nothing.
package lifecycle

import (
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Row is a proposal as a store holds it. Its State is the one that was written
// last: call Lapse before relying on it.
type Row struct {
	approval.Record
	// Open says that the row answers for its operation, of which there is one.
	Open bool
	// Attempt is the claim that the row is executed by, and Lapses the end of its
	// lease. Both are zero before the first claim.
	Attempt ambit.Attempt
	Lapses  time.Time
	// Closed is when nothing more could come of it, zero before.
	Closed time.Time
}

// New returns the row of a question that is asked now.
func New(id string, p ambit.Proposal, now time.Time) Row {
	return Row{Open: true, Record: approval.Record{
		ID: id, Operation: p.Binding.Operation(), Proposal: kept(p), Created: now, DecideBy: now.Add(p.DecideWithin),
	}}
}

// Consent returns the row of a question that was answered at once.
func Consent(id string, p ambit.Proposal, d approval.Decision, now time.Time) Row {
	r := New(id, p, now)
	r.Kind, r.Open, r.State, r.Closed = ambit.KindConsent, false, ambit.ProposalDenied, now
	if d.Verdict == approval.Approve {
		r.State = ambit.ProposalApproved
	}
	d.At = now
	r.Decisions = []approval.Decision{keptDecision(d)}
	return r
}

// kept returns the part of a proposal that can be stored, sharing nothing with it.
func kept(p ambit.Proposal) ambit.Proposal {
	p.Requester = keptPrincipal(p.Requester)
	p.Input, p.Summary = slices.Clone(p.Input), slices.Clone(p.Summary)
	p.Quorum = max(p.Quorum, 1)
	return p
}

func keptDecision(d approval.Decision) approval.Decision {
	d.Principal, d.Behind = keptPrincipal(d.Principal), slices.Clone(d.Behind)
	return d
}

// keptPrincipal leaves out what belongs to the credential and to the application.
func keptPrincipal(p *ambit.Principal) *ambit.Principal {
	if p == nil {
		return nil
	}
	k := *p
	k.Claims, k.Value = nil, nil
	k.Permissions, k.Roles = slices.Clone(p.Permissions), slices.Clone(p.Roles)
	k.Scopes, k.Behind = slices.Clone(p.Scopes), slices.Clone(p.Behind)
	return &k
}

// Clone returns a copy that shares nothing with the row.
func (r *Row) Clone() Row {
	c := *r
	c.Proposal = kept(r.Proposal)
	c.Outcome = slices.Clone(r.Outcome)
	c.Decisions = slices.Clone(r.Decisions)
	for i := range c.Decisions {
		c.Decisions[i] = keptDecision(c.Decisions[i])
	}
	return c
}

// Lapse takes over what time has done to the row, and reports whether it has
// done anything. What the grant of a decision has approved was given no longer than
// the grant.
func (r *Row) Lapse(now time.Time) bool {
	switch {
	case r.Kind == ambit.KindConsent:
		return false
	case r.State == ambit.ProposalPending && !now.Before(r.DecideBy):
		r.close(ambit.ProposalExpired, r.DecideBy)
	case r.State == ambit.ProposalApproved && !now.Before(r.ExecuteBy):
		r.close(ambit.ProposalExpired, r.ExecuteBy)
	case r.State == ambit.ProposalExecuting && !now.Before(r.Lapses):
		r.State = ambit.ProposalUnknown
	case r.State == ambit.ProposalPending:
		return r.withdraw(func(d approval.Decision) bool { return !d.Until.IsZero() && !now.Before(d.Until) })
	default:
		return false
	}
	return true
}

// withdraw takes back decisions, and reports whether there were any.
func (r *Row) withdraw(which func(approval.Decision) bool) bool {
	if !slices.ContainsFunc(r.Decisions, which) {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(r.Decisions), which)
	if len(left) == 0 {
		left = nil
	}
	r.Decisions = left
	return true
}

// Written returns the states that rows may have been written with which are in one
// of these states now, each once.
func Written(states []ambit.ProposalState) (written []ambit.ProposalState) {
	for _, state := range states {
		written = append(written, state)
		switch state {
		case ambit.ProposalExpired:
			written = append(written, ambit.ProposalPending, ambit.ProposalApproved)
		case ambit.ProposalUnknown:
			written = append(written, ambit.ProposalExecuting)
		}
	}
	slices.Sort(written)
	return slices.Compact(written)
}

// close ends the row. What expired makes room for the next question at once;
// everything else still answers for a while.
func (r *Row) close(state ambit.ProposalState, at time.Time) {
	r.State, r.Closed = state, at
	if state == ambit.ProposalExpired {
		r.Open = false
	}
}

// AnswersUntil is when the row ceases to answer for its operation. Forever
// reports that no time brings that about.
func (r *Row) AnswersUntil() (until time.Time, forever bool) {
	switch r.State {
	case ambit.ProposalPending, ambit.ProposalDenied, ambit.ProposalRevoked:
		return r.DecideBy, false
	case ambit.ProposalApproved:
		return r.ExecuteBy, false
	case ambit.ProposalExecuting, ambit.ProposalUnknown:
		return time.Time{}, true
	case ambit.ProposalSucceeded, ambit.ProposalFailed:
		return r.Finished.Add(r.Proposal.ExecuteWithin), false
	}
	return time.Time{}, false
}

// Forgettable reports whether nothing can come of the row any more, and has not
// for some time. Keys that point to it are another matter.
func (r *Row) Forgettable(now time.Time, keep time.Duration) bool {
	r.Lapse(now)
	until, forever := r.AnswersUntil()
	return !r.Closed.IsZero() && !r.Closed.After(now.Add(-keep)) && !(r.Open && (forever || now.Before(until)))
}

// Standing returns how the row stands, its time considered already.
func (r *Row) Standing() ambit.Standing {
	s := ambit.Standing{
		ID: r.ID, State: r.State, Level: r.Proposal.Level, Operation: r.Operation,
		Preview: r.Proposal.Preview, Version: r.Proposal.Version, DecideBy: r.DecideBy, ExecuteBy: r.ExecuteBy, Outcome: r.Outcome,
	}
	if n := len(r.Decisions); n > 0 && (r.State == ambit.ProposalDenied || r.State == ambit.ProposalRevoked) {
		s.Reason = r.Decisions[n-1].Reason
	}
	return s
}
