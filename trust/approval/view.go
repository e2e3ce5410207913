package approval

import (
	"context"
	"errors"

	"github.com/ambit-dev/ambit"
)

// View is a proposal as a person is shown it who may decide about it.
type View struct {
	// Record is the record, with its decisions so far.
	Record Record
	// Review is the call as it would be made now: the complete input, and what it
	// would change. Once the call has begun, or can no longer be made, it is what
	// was shown last: of a call that was made, what was allowed. It is nil where
	// Obstacle says why there is none.
	Review *ambit.Review
	// Obstacle is why the call could not be made now, whatever is decided: the
	// capability has changed, or the requester may no longer. Nil: it could.
	Obstacle *ambit.Error
	// Verdicts are what the person may say about it now. Empty: nothing.
	Verdicts []Verdict
	// Why says in words why the call takes more than the contract of its capability
	// says, which is up to how it came and to the application's monitor. Empty: it
	// takes no more.
	Why string
	// Ended is what the audit record says of the end of a call whose end the store
	// does not know, for the person who settles it. Nil: it says nothing, or there is
	// none.
	Ended *Ended
	// Denied are earlier proposals of the same call that were denied or revoked,
	// newest first, five at most.
	Denied []Record

	person *ambit.Principal // who is shown it
}

// Against returns why the person may not say that about the proposal as it is in the
// view, or nil, so that nobody is asked for a word that would be refused.
func (v *View) Against(verdict Verdict) *ambit.Error {
	return objection(&v.Record, v.person, verdict, v.about())
}

// Objection returns why the person may not approve what waits to be approved. Nil:
// they may, or nothing waits.
func (v *View) Objection() *ambit.Error {
	if v.Record.State != ambit.ProposalPending {
		return nil
	}
	return v.Against(Approve)
}

// Seen is what [Ruling.Preview] has to be for a person who was shown the view.
func (v *View) Seen() ambit.Digest {
	if v.Review == nil {
		return ambit.Digest{}
	}
	return v.Review.Digest
}

// about is the digest of the preview that a word about the view would be about.
func (v *View) about() ambit.Digest {
	if v.Review == nil {
		return v.Record.Proposal.Preview
	}
	return v.Review.Digest
}

// View returns a proposal for a person who may decide about it. Errors are those
// of [Approvals.Decide].
func (a *Approvals) View(ctx context.Context, app *ambit.App, person *ambit.Principal, id string) (View, error) {
	r, err := a.find(ctx, app, person, id)
	if err != nil {
		return View{}, err
	}
	v := View{Record: r, person: person}
	review, err := reviewOf(ctx, app, r)
	if err == nil {
		v.Review = &review
	} else if failure, ok := errors.AsType[*ambit.Error](err); ok && failure.Code != ambit.CodeCanceled {
		v.Obstacle = failure
	} else {
		return View{}, a.failed(ctx, err)
	}
	v.Why = whyMore(app, &r.Proposal, v.Review)
	if r.State == ambit.ProposalUnknown {
		v.Ended = a.ended(ctx, &r)
	}
	for _, verdict := range [...]Verdict{Approve, Deny, Revoke, SettleSucceeded, SettleFailed} {
		switch {
		case v.Against(verdict) != nil:
		case verdict == Approve && v.Review == nil: // nothing to be seen
		case verdict == Revoke && r.State == ambit.ProposalPending: // Deny says it
		default:
			v.Verdicts = append(v.Verdicts, verdict)
		}
	}
	v.Denied, err = a.denied(ctx, r)
	if err != nil {
		return View{}, a.failed(ctx, err)
	}
	return v, nil
}

// reviewOf returns what a person is shown of a proposal.
func reviewOf(ctx context.Context, app *ambit.App, r Record) (ambit.Review, error) {
	if !callable(r.State) {
		return app.LastReview(ctx, r.Proposal)
	}
	return app.Review(ctx, r.Proposal)
}

// callable reports whether the call of a proposal may still be made. Of any other,
// what it would do now is beside the point.
func callable(s ambit.ProposalState) bool {
	return s == ambit.ProposalPending || s == ambit.ProposalApproved
}

// denied returns earlier proposals of the same call that a person said no to.
func (a *Approvals) denied(ctx context.Context, r Record) ([]Record, error) {
	page, _, err := a.store.List(ctx, Filter{
		Tenant: r.Proposal.Binding.Tenant, Operation: r.Operation, Limit: 6,
		States: []ambit.ProposalState{ambit.ProposalDenied, ambit.ProposalRevoked},
	})
	if err != nil {
		return nil, err
	}
	var denied []Record
	for _, earlier := range page {
		if earlier.ID != r.ID && len(denied) < 5 {
			denied = append(denied, earlier)
		}
	}
	return denied, nil
}

// List returns a page of the proposals that a person may decide about, newest
// first, without their inputs, and the cursor of the next page, empty at the end.
// They are of the person's tenant, whatever the filter says. Those that only
// their callers confirm are left out but for those whose end is unknown. A page
// can hold fewer than the filter's limit. Errors are those of [Approvals.Decide].
func (a *Approvals) List(ctx context.Context, app *ambit.App, person *ambit.Principal, f Filter) (list []Record, next string, err error) {
	if !present(ctx, person) {
		return nil, "", notFound()
	}
	if refused := a.elsewhere(ctx, app); refused != nil {
		return nil, "", refused
	}
	if !printable(f.Capability) {
		return nil, "", nil
	}
	f.Tenant = person.Tenant
	list, next, err = permitted(ctx, app, person, f.After, func(after string) ([]Record, string, error) {
		f.After = after
		return a.store.List(ctx, f)
	}, func(r *Record) (string, bool) {
		return r.Proposal.DecidePermission, r.Kind == ambit.KindApproval && (r.Proposal.Level >= ambit.Human || r.State == ambit.ProposalUnknown)
	})
	if err != nil {
		return nil, "", a.failed(ctx, err)
	}
	return list, next, nil
}
