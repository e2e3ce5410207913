package lifecycle

import (
	"bytes"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Given returns a grant as it is kept that is given now.
func Given(g approval.Grant, now time.Time) approval.Grant {
	g = KeptGrant(g)
	g.Used, g.Until = 0, g.Until.UTC().Truncate(time.Microsecond)
	g.Given.At, g.Revoked = now, approval.Decision{}
	return g
}

// KeptGrant returns the part of a grant that can be stored, sharing nothing with it.
func KeptGrant(g approval.Grant) approval.Grant {
	g.Input = bytes.Clone(g.Input)
	g.Given, g.Revoked = keptDecision(g.Given), keptDecision(g.Revoked)
	return g
}

// DecideByGrant adds the word of a grant's granter, and spends one call of the grant,
// if both the grant and the row are ones that it can be said by and of. The row is
// to be written either way where lapsed is true.
func (r *Row) DecideByGrant(g *approval.Grant, preview ambit.Digest, now time.Time) (decided, lapsed bool) {
	if g.State(now) != approval.GrantLive || !g.Covers(r.Proposal.Binding) || r.Proposal.Level < ambit.Human {
		return false, r.Lapse(now)
	}
	d := g.Given
	d.Verdict, d.Preview, d.Grant, d.Until = approval.Approve, preview, g.ID, g.Until
	decided, lapsed = r.Decide(d, now)
	if decided {
		g.Used++
	}
	return decided, lapsed
}

// RevokeGrant ends a grant, and reports whether there was anything to end.
func RevokeGrant(g *approval.Grant, d approval.Decision, now time.Time) bool {
	if state := g.State(now); state == approval.GrantRevoked || state == approval.GrantExpired {
		return false
	}
	d.At = now
	g.Revoked = keptDecision(d)
	return true
}

// Lose takes the word of a grant from the row, which is revoked by it where it was
// approved. A row that a call has claimed keeps it, and is approved no more where the
// call gives it back. Changed says that the row is to be written, and lost that nothing
// is approved by it from now on.
func (r *Row) Lose(grant string, d approval.Decision, now time.Time) (changed, lost bool) {
	r.Lapse(now)
	by := func(d approval.Decision) bool { return d.Grant == grant }
	if r.Kind == ambit.KindConsent || !slices.ContainsFunc(r.Decisions, by) {
		return false, false
	}
	switch r.State {
	case ambit.ProposalApproved:
		d.Verdict, d.Grant = approval.Revoke, grant
		lost, _ = r.Decide(d, now)
		return lost, lost
	case ambit.ProposalPending:
		r.withdraw(by)
		r.DecideBy = now.Add(r.Proposal.DecideWithin) // as in Reconsider
		return true, true
	case ambit.ProposalExecuting, ambit.ProposalUnknown:
		r.ExecuteBy = now
		return true, false
	}
	return false, false
}
