package lifecycle

import (
	"bytes"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/plural"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Ask puts the question to the row that is open for its operation. Stays reports
// that the row answers for it; where it does not, it is closed to such questions,
// and another row has to be made. Changed reports that the row is to be written, and
// raised that it takes more than before.
func (r *Row) Ask(p ambit.Proposal, now time.Time) (stays, changed, raised bool) {
	changed = r.Lapse(now)
	until, forever := r.AnswersUntil()
	if !forever && !now.Before(until) || r.givesWay(p) {
		if r.State == ambit.ProposalApproved { // for a lower level than this one
			r.close(ambit.ProposalExpired, now)
		}
		r.Open = false
		return false, true, false
	}
	if r.State == ambit.ProposalPending {
		repeated := r.repeat(p, now)
		raised = r.raise(p, now)
		changed = changed || repeated || raised
	}
	return true, changed, raised
}

// givesWay reports whether the row makes room for a question that is asked on
// purpose once more, or that takes more than was given.
func (r *Row) givesWay(p ambit.Proposal) bool {
	switch r.State {
	case ambit.ProposalSucceeded, ambit.ProposalFailed:
		return r.Proposal.Level == ambit.Confirm || p.Key != ambit.Digest{} && p.Key != r.Key
	case ambit.ProposalApproved:
		return r.Proposal.Level < p.Level
	}
	return false
}

// repeat takes over what may differ from one asking to the next, as long as
// nobody has decided on it. The input is the same, since the operation is: other
// bytes are only another seal, for which nothing is written.
func (r *Row) repeat(p ambit.Proposal, now time.Time) bool {
	q := &r.Proposal
	confirm := q.Level == ambit.Confirm
	if len(r.Decisions) > 0 || !confirm && q.Preview == p.Preview && q.Version == p.Version {
		return false
	}
	q.Preview, q.Version, q.Input, q.Summary = p.Preview, p.Version, bytes.Clone(p.Input), bytes.Clone(p.Summary)
	if confirm {
		r.DecideBy = now.Add(q.DecideWithin)
	}
	return true
}

// raise makes a question that is asked for more than before one of that level, and
// has it say how that came. A word on another preview than that of now goes.
func (r *Row) raise(p ambit.Proposal, now time.Time) bool {
	q := &r.Proposal
	if q.Level >= p.Level {
		return false
	}
	q.Level, q.Quorum, q.DecidePermission = p.Level, max(p.Quorum, 1), p.DecidePermission
	q.DecideWithin, q.ExecuteWithin = p.DecideWithin, p.ExecuteWithin
	q.Via, q.Agent, q.Run, q.Call, q.Request, q.Reason = p.Via, p.Agent, p.Run, p.Call, p.Request, p.Reason
	q.Preview, q.Version, q.Input, q.Summary = p.Preview, p.Version, bytes.Clone(p.Input), bytes.Clone(p.Summary)
	r.withdraw(func(d approval.Decision) bool { return d.Preview != p.Preview })
	r.DecideBy = now.Add(q.DecideWithin)
	return true
}

// Waiting is how many rows are pending of one requester or tenant, and when the first
// of them lapses, which makes room.
type Waiting struct {
	Rows int
	Next time.Time
}

// TooMany is the answer to a question beyond the caps, nil within them.
func TooMany(caps approval.Caps, requester, tenant Waiting, now time.Time) error {
	whose, next := "", time.Time{}
	switch {
	case caps.Requester > 0 && requester.Rows >= caps.Requester:
		whose, next = "You have "+plural.Of(requester.Rows, "call")+" waiting to be confirmed or decided", requester.Next
	case caps.Tenant > 0 && tenant.Rows >= caps.Tenant:
		whose, next = "All callers together have "+plural.Of(tenant.Rows, "call")+" waiting to be confirmed or decided", tenant.Next
	default:
		return nil
	}
	e := ambit.Errorf(ambit.CodeRateLimited, "%s, which is as many as there may be.", whose).
		WithHint("Wait until some of them are decided or expire.")
	e.RetryAfter = max(next.Sub(now), time.Second)
	return e
}
