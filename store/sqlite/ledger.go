package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

var errNoClaim = errors.New("sqlite: the claim is not there: it was never made, has been settled or has expired")

// Find returns what stands in the way of a claim, see [ambit.Ledger].
func (s *Store) Find(ctx context.Context, c ambit.Claim) (found ambit.Record, err error) {
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		found, _, err = u.find(ctx, c, false)
		return err
	})
	return found, err
}

// find returns what stands in the way of a claim, and the row of the proposal as
// it is when it is claimed. Where it writes, a row that has come to its end by the
// claim is written.
func (u *unit) find(ctx context.Context, c ambit.Claim, writes bool) (found ambit.Record, r lifecycle.Row, err error) {
	if found, err = u.findKey(ctx, c.Key); err != nil || c.Approval.ID == "" {
		return found, r, err
	}
	found.Approval = lifecycle.Missing(c.Approval.ID)
	r, ok, err := u.row(ctx, "id = ?", c.Approval.ID)
	if err != nil || !ok {
		return found, r, err
	}
	var made, changed bool
	found.Approval, made, changed = r.Claim(c, u.now)
	if writes && changed && !made && found.State == ambit.RecordFree {
		err = u.update(ctx, r)
	}
	return found, r, err
}

// findKey returns the record under a key.
func (u *unit) findKey(ctx context.Context, key ambit.Digest) (found ambit.Record, err error) {
	if key == (ambit.Digest{}) {
		return found, nil
	}
	var operation []byte
	var covered string
	var finished, lapsed bool
	err = u.queryRow(ctx, "SELECT operation, proposal, finished, lapses <= ?, outcome FROM {}call WHERE key = ? AND expires > ?",
		encode.Time(u.now), key[:], encode.Time(u.now)).Scan(&operation, &covered, &finished, &lapsed, &found.Outcome)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ambit.Record{}, nil
	case err != nil:
		return ambit.Record{}, err
	}
	found.Operation = encode.ParseDigest(operation)
	switch {
	case covered != "":
		r, _, err := u.row(ctx, "id = ?", covered)
		if err != nil {
			return ambit.Record{}, err
		}
		r.Lapse(u.now)
		found.State, found.Outcome, found.By = r.KeyState(), r.Outcome, ambit.Standing{ID: r.ID, State: r.State}
	case finished:
		found.State = ambit.RecordFinished
	case lapsed:
		found.State = ambit.RecordUnknown
	default:
		found.State = ambit.RecordRunning
	}
	return found, nil
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
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		var r lifecycle.Row
		found, r, err = u.find(ctx, c, true)
		if err != nil || found.State != ambit.RecordFree || found.Approval.ID != "" {
			return err
		}
		if c.Approval.ID != "" {
			if err := u.update(ctx, r); err != nil {
				return err
			}
		}
		if c.Key != (ambit.Digest{}) {
			if err := u.insertCall(ctx, c); err != nil {
				return err
			}
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return ambit.Record{}, err
	}
	return found, nil
}

// insertCall records a key, of which there may be an expired record, and removes
// some that have expired.
func (u *unit) insertCall(ctx context.Context, c ambit.Claim) error {
	now := encode.Time(u.now)
	if _, err := u.exec(ctx, "DELETE FROM {}call WHERE key = ? OR key IN (SELECT key FROM {}call WHERE expires <= ? ORDER BY expires LIMIT 2)", c.Key[:], now); err != nil {
		return err
	}
	operation := c.Binding.Operation()
	_, err := u.exec(ctx, "INSERT INTO {}call (key, attempt, operation, proposal, lapses, expires, finished) VALUES (?, ?, ?, ?, ?, ?, 0)",
		c.Key[:], c.Attempt[:], operation[:], c.Approval.ID, encode.Time(u.now.Add(c.Lease)), encode.Time(u.now.Add(max(u.options.Keep, c.Lease))))
	return err
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

func (s *Store) finish(ctx context.Context, c ambit.Claim, ending ambit.Ending, e *audit.Entry) error {
	if len(ending.Outcome) > s.options.Outcome {
		ending.Outcome = ending.Receipt
	}
	return s.joining(ctx, func(ctx context.Context, u *unit) error {
		err := u.finish(ctx, c, ending)
		if errors.Is(err, errNoClaim) && e == nil {
			return u.finished(ctx, c)
		}
		if err != nil {
			return err
		}
		return u.record(ctx, e)
	})
}

// finish writes an ending where the claim's outcome belongs: with its proposal,
// which its key points to, or else with its key.
func (u *unit) finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	switch {
	case c.Approval.ID != "":
		r, ok, err := u.row(ctx, "id = ?", c.Approval.ID)
		switch {
		case err != nil:
			return err
		case !ok || !r.Finish(c, e, u.now):
			return errNoClaim
		}
		return u.update(ctx, r)
	case c.Key != ambit.Digest{}:
		changed, err := u.exec(ctx, "UPDATE {}call SET finished = 1, outcome = ? WHERE key = ? AND attempt = ? AND finished = 0 AND expires > ?",
			e.Outcome, c.Key[:], c.Attempt[:], encode.Time(u.now))
		if err == nil && changed == 0 {
			err = errNoClaim
		}
		return err
	}
	return nil
}

// finished returns nil where the claim has been finished already.
func (u *unit) finished(ctx context.Context, c ambit.Claim) error {
	done := false
	if c.Approval.ID != "" {
		r, ok, err := u.row(ctx, "id = ?", c.Approval.ID)
		if err != nil {
			return err
		}
		done = ok && r.EndedBy(c)
	} else {
		err := u.queryRow(ctx, "SELECT count(*) > 0 FROM {}call WHERE key = ? AND attempt = ? AND finished = 1 AND expires > ?",
			c.Key[:], c.Attempt[:], encode.Time(u.now)).Scan(&done)
		if err != nil {
			return err
		}
	}
	if !done {
		return errNoClaim
	}
	return nil
}

// Release gives back what Claim took, see [ambit.Ledger]. Within a transaction of
// [Store.WithTx] no claim is ever made, so there is nothing to give back.
func (s *Store) Release(ctx context.Context, c ambit.Claim) error {
	if s.Joins(ctx) {
		return nil
	}
	return s.write(ctx, func(ctx context.Context, u *unit) error {
		if c.Approval.ID != "" {
			r, ok, err := u.row(ctx, "id = ?", c.Approval.ID)
			if err != nil {
				return err
			}
			if ok && r.Release(c) {
				if err := u.update(ctx, r); err != nil {
					return err
				}
			}
		}
		if c.Key == (ambit.Digest{}) {
			return nil
		}
		_, err := u.exec(ctx, "DELETE FROM {}call WHERE key = ? AND attempt = ? AND finished = 0", c.Key[:], c.Attempt[:])
		return err
	})
}
