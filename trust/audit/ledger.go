package audit

import (
	"context"
	"errors"

	"github.com/ambit-dev/ambit"
)

// Records reports whether calls of this effect have to be claimed with an
// [ambit.Intent]: those that do more than read. A write has no intent in the
// record; its claim takes the room that its outcome will need.
func (l *Log) Records(effect ambit.Effect) bool { return effect > ambit.Read }

// Unwrap returns the store, whose records the log's are.
func (l *Log) Unwrap() ambit.Ledger { return l.store }

// Joins reports whether the outcome of a call would be part of a transaction
// that ctx carries. The entry of such an outcome is written afterwards, since
// the transaction can still fail.
func (l *Log) Joins(ctx context.Context) bool {
	part, ok := l.store.(interface {
		Joins(ctx context.Context) bool
	})
	return ok && part.Joins(ctx)
}

// Find returns the record that stands in the way of a claim.
func (l *Log) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	return l.store.Find(ctx, c)
}

// Claim makes a claim. One with an intent takes room for the outcome of its call
// and, for calls that execute, reach outside or destroy, puts the intent on record
// in the same transaction.
func (l *Log) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	if c.Intent == nil {
		return l.store.Claim(ctx, c)
	}
	u := l.underWay(ctx)
	if u == nil {
		return ambit.Record{}, errors.New("audit: the log does not see the calls that it is to claim: put Log.Observer among ambit.Options.Observers")
	}
	if err := l.reserveFor(ctx, u); err != nil {
		return ambit.Record{}, err
	}
	e := &c.Intent.Event
	chain, n := l.chainOf(e.Tenant), l.newLine(KindIntent, e)
	defer l.recycle(n)
	n.take(l, chain, c.Intent.Input)
	u.mu.Lock()
	u.claimed, u.intent = true, e.Effect >= ambit.Execute
	u.digest, u.input, u.large = append(u.digest[:0], n.digest...), append(u.input[:0], n.input...), n.large
	u.mu.Unlock()

	if n.event.Proposal == "" {
		n.event.Proposal = c.Approval.ID
	}
	n.event.Key = c.Key
	record, err := l.claim(ctx, c, n)
	if err == nil && !made(record) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.claimed, u.intent = false, false // nothing has begun: FinishInput gives the slot back
	}
	return record, err
}

func (l *Log) claim(ctx context.Context, c ambit.Claim, n *line) (ambit.Record, error) {
	switch {
	case n.event.Effect >= ambit.Execute:
		var got ambit.Record
		landed, err := l.with(ctx, n.record(), nil, func(ctx context.Context, e Entry) (bool, error) {
			record, err := l.store.ClaimWith(ctx, c, e)
			got = record
			return made(record), err
		})
		if landed && err != nil {
			return ambit.Record{}, nil // the entry is there, and so the claim is
		}
		return got, err
	case takes(c):
		return l.store.Claim(ctx, c)
	}
	return ambit.Record{}, nil
}

// made reports whether a claim was made: nothing stands in its way.
func made(r ambit.Record) bool { return r.State == ambit.RecordFree && r.Approval.ID == "" }

// takes reports whether there is more to a claim than its intent.
func takes(c ambit.Claim) bool { return c.Key != (ambit.Digest{}) || c.Approval.ID != "" }

// Finish ends a claim. The outcome of its call goes on record in the same
// transaction, unless that is one of the application's. After an error it may be
// asked again: the outcome is on record once.
func (l *Log) Finish(ctx context.Context, c ambit.Claim, ending ambit.Ending) error {
	u := l.underWay(ctx)
	if c.Intent == nil || u == nil || ending.Event == nil || !takes(c) && ending.Event.Effect < ambit.Execute || l.Joins(ctx) {
		if !takes(c) {
			return nil
		}
		return l.store.Finish(ctx, c, ending)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	kind := KindCall
	if u.intent {
		kind = KindOutcome
	}
	n := l.newLine(kind, ending.Event)
	defer l.recycle(n)
	n.digest, n.input, n.large = append(n.digest, u.digest...), append(n.input, u.input...), u.large
	landed, err := l.with(ctx, n.record(), &u.outcome, func(ctx context.Context, e Entry) (bool, error) {
		err := l.store.FinishWith(ctx, c, ending, e)
		return err == nil, err
	})
	if landed {
		u.written = true
		return nil
	}
	return err
}

// Release gives back what a claim took. That nothing has happened goes on record
// at the end of the call.
func (l *Log) Release(ctx context.Context, c ambit.Claim) error {
	if !takes(c) {
		return nil
	}
	return l.store.Release(ctx, c)
}

var (
	_ ambit.Ledger        = (*Log)(nil)
	_ ambit.InputObserver = observer{}
)
