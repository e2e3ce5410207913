package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

var errNoClaim = errors.New("postgres: the claim is not there: it was never made, has been settled or has expired")

// underKey is what is recorded under the key of a call.
type underKey struct {
	record   ambit.Record // its state is that of a call without a proposal
	lapses   int64
	expires  int64
	covering *lifecycle.Row // the proposal that holds the outcome, as far as it matters
}

// key queues the search for what is recorded under a key.
func (u *unit) key(into **underKey, key ambit.Digest) {
	*into = nil
	if key == (ambit.Digest{}) {
		return
	}
	u.queue(`
		SELECT c.operation, c.finished, c.lapses, c.expires, c.outcome, c.proposal, p.state, coalesce(p.lapses, 0), p.outcome
		FROM {}call c LEFT JOIN {}proposal p ON c.proposal <> '' AND p.id = c.proposal WHERE c.key = $1`, key[:]).QueryRow(func(row pgx.Row) error {
		var k underKey
		var operation, outcome []byte
		var finished bool
		var proposal string
		var state *int16
		var lapses int64
		err := row.Scan(&operation, &finished, &k.lapses, &k.expires, &k.record.Outcome, &proposal, &state, &lapses, &outcome)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		k.record.State, k.record.Operation = ambit.RecordRunning, encode.ParseDigest(operation)
		if finished {
			k.record.State = ambit.RecordFinished
		}
		if state != nil {
			k.record.By.ID = proposal
			k.covering = &lifecycle.Row{Lapses: encode.ParseTime(lapses)}
			k.covering.State, k.covering.Outcome = ambit.ProposalState(*state), outcome
		}
		*into = &k
		return nil
	})
}

// at returns the record at a time.
func (k *underKey) at(now time.Time) ambit.Record {
	if k == nil || k.expires <= encode.Time(now) {
		return ambit.Record{}
	}
	r := k.record
	switch {
	case k.covering != nil:
		k.covering.Lapse(now)
		r.State, r.Outcome, r.By.State = k.covering.KeyState(), k.covering.Outcome, k.covering.State
	case r.State == ambit.RecordRunning && k.lapses <= encode.Time(now):
		r.State = ambit.RecordUnknown
	}
	return r
}

// Find returns what stands in the way of a claim, see [ambit.Ledger].
func (s *Store) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	var now time.Time
	var proposal held
	var under *underKey
	err := s.look(ctx, func(u *unit) {
		if c.Approval.ID != "" {
			u.row(&proposal, "id = $1", "", c.Approval.ID)
		}
		u.key(&under, c.Key)
		u.readClock(&now)
	})
	if err != nil {
		return ambit.Record{}, err
	}
	found := under.at(now)
	if c.Approval.ID != "" {
		found.Approval, _, _ = proposal.claim(c, now)
	}
	return found, nil
}

// claim gives the row to a call if it is there, see [lifecycle.Row.Claim].
func (h *held) claim(c ambit.Claim, now time.Time) (standing ambit.Standing, made, changed bool) {
	if !h.found {
		return lifecycle.Missing(c.Approval.ID), false, false
	}
	return h.Claim(c, now)
}

// Claim takes what the claim names or nothing, see [ambit.Ledger].
func (s *Store) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	return s.claim(ctx, c, nil)
}

// ClaimWith is Claim with an entry for the audit record, see [audit.Store].
func (s *Store) ClaimWith(ctx context.Context, c ambit.Claim, e audit.Entry) (ambit.Record, error) {
	return s.claim(ctx, c, &e)
}

func (s *Store) claim(ctx context.Context, c ambit.Claim, e *audit.Entry) (found ambit.Record, err error) {
	made, err := s.atOnce(ctx, func(u *unit) error {
		if c.Approval.ID != "" {
			u.claimPlain(c)
		}
		u.insertCall(c)
		u.record(e)
		return nil
	})
	if err != nil || made {
		return ambit.Record{}, err
	}
	var proposal held
	var under *underKey
	err = s.transact(ctx, func(u *unit) {
		if c.Approval.ID != "" { // first, so that whoever has waited for it sees the other's key
			u.row(&proposal, "id = $1", "FOR UPDATE", c.Approval.ID)
		}
		u.key(&under, c.Key)
	}, func(u *unit) error {
		found = under.at(u.now)
		if c.Approval.ID != "" {
			var changed bool
			found.Approval, _, changed = proposal.claim(c, u.now)
			if changed && found.State == ambit.RecordFree {
				if err := u.update(proposal.Row); err != nil {
					return err
				}
			}
		}
		if found.State != ambit.RecordFree || found.Approval.ID != "" {
			return nil
		}
		u.insertCall(c)
		u.record(e)
		return nil
	})
	if err != nil {
		return ambit.Record{}, placeError(err)
	}
	return found, nil
}

// insertCall queues the record of a key if there is one, of which there may be an
// expired one, and removes some that have expired. If another call has taken the key
// in the meantime it fails.
func (u *unit) insertCall(c ambit.Claim) {
	if c.Key == (ambit.Digest{}) {
		return
	}
	operation, ahead := c.Binding.Operation(), u.ahead.Load()
	u.queue("DELETE FROM {}call WHERE key = $2 AND expires <= {now}", ahead, c.Key[:])
	u.queue("DELETE FROM {}call WHERE key IN (SELECT key FROM {}call WHERE expires <= (SELECT {now}) ORDER BY expires LIMIT 2 FOR UPDATE SKIP LOCKED)", ahead)
	u.queue("INSERT INTO {}call (key, attempt, operation, proposal, lapses, expires, finished) VALUES ($2, $3, $4, $5, {now} + $6::bigint, {now} + $7::bigint, false)",
		ahead, c.Key[:], c.Attempt[:], operation[:], c.Approval.ID, c.Lease.Microseconds(), max(u.options.Keep, c.Lease).Microseconds())
}

// Finish keeps how the claimed call has ended, see [ambit.Ledger]. It joins a
// transaction of [Store.WithTx].
func (s *Store) Finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	return s.finish(ctx, c, e, nil)
}

// FinishWith is Finish with an entry for the audit record, see [audit.Store].
func (s *Store) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	return s.finish(ctx, c, ending, &e)
}

// finish takes one round trip: the two statements are one transaction, the
// application's or one of their own. One of their own is tried again where the
// connection broke, and may turn out to have been done.
func (s *Store) finish(ctx context.Context, c ambit.Claim, ending ambit.Ending, e *audit.Entry) error {
	if len(ending.Outcome) > s.options.Outcome {
		ending.Outcome = ending.Receipt
	}
	if c.Approval.ID == "" && c.Key == (ambit.Digest{}) && e == nil {
		return nil
	}
	write := func(u *unit) error {
		u.finish(c, ending)
		u.record(e)
		return nil
	}
	if tx := s.joined(ctx); tx != nil {
		u := &unit{Store: s}
		_ = write(u)
		return placeError(endedOr(ctx, tx.SendBatch(ctx, &u.Batch).Close()))
	}
	err := placeError(insist(ctx, func() error { return s.send(ctx, write) }))
	if errors.Is(err, errNoClaim) && e == nil {
		return insist(ctx, func() error { return s.finished(ctx, c) })
	}
	return err
}

// finished returns nil where the claim has been finished already.
func (s *Store) finished(ctx context.Context, c ambit.Claim) error {
	var r held
	done := false
	err := s.look(ctx, func(u *unit) {
		if c.Approval.ID != "" {
			u.row(&r, "id = $1", "", c.Approval.ID)
			return
		}
		u.queue("SELECT count(*) > 0 FROM {}call WHERE key = $2 AND attempt = $3 AND finished AND expires > {now}",
			u.ahead.Load(), c.Key[:], c.Attempt[:]).QueryRow(func(row pgx.Row) error { return row.Scan(&done) })
	})
	if err == nil && !done && !(r.found && r.EndedBy(c)) {
		err = errNoClaim
	}
	return err
}

// finish queues an ending where the claim's outcome belongs: with its proposal,
// which its key points to, or else with its key. Where the claim is not there the
// statement fails, and takes the rest with it.
func (u *unit) finish(c ambit.Claim, e ambit.Ending) {
	var query *pgx.QueuedQuery
	switch {
	case c.Approval.ID != "":
		state := ambit.ProposalSucceeded
		if e.Failed {
			state = ambit.ProposalFailed
		}
		query = u.queue(`
			WITH done AS (
				UPDATE {}proposal SET state = $2, finished = {now}, closed = {now}, outcome = $3
				WHERE id = $4 AND attempt = $5 AND state IN (5, 8) RETURNING 1
			) SELECT 1 / count(*) FROM done`, u.ahead.Load(), int(state), e.Outcome, c.Approval.ID, c.Attempt[:])
	case c.Key != ambit.Digest{}:
		query = u.queue(`
			WITH done AS (
				UPDATE {}call SET finished = true, outcome = $2
				WHERE key = $3 AND attempt = $4 AND NOT finished AND expires > {now} RETURNING 1
			) SELECT 1 / count(*) FROM done`, u.ahead.Load(), e.Outcome, c.Key[:], c.Attempt[:])
	default:
		return
	}
	query.QueryRow(func(row pgx.Row) error {
		var one int64
		return row.Scan(&one)
	})
}

// Release gives back what Claim took, see [ambit.Ledger].
func (s *Store) Release(ctx context.Context, c ambit.Claim) error {
	return insist(ctx, func() error { return s.release(ctx, c) })
}

func (s *Store) release(ctx context.Context, c ambit.Claim) error {
	var proposal held
	return s.transact(ctx, func(u *unit) {
		if c.Approval.ID != "" {
			u.row(&proposal, "id = $1", "FOR UPDATE", c.Approval.ID)
		}
	}, func(u *unit) error {
		if proposal.found && proposal.Release(c) {
			if err := u.update(proposal.Row); err != nil {
				return err
			}
		}
		if c.Key != (ambit.Digest{}) {
			u.queue("DELETE FROM {}call WHERE key = $1 AND attempt = $2 AND NOT finished", c.Key[:], c.Attempt[:])
		}
		return nil
	})
}
