package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

var errNoClaim = errors.New("memory: the claim is not there: it was never made, has been settled or has expired")

// Find returns what stands in the way of a claim, see [ambit.Ledger].
func (s *Store) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	if err := ctx.Err(); err != nil {
		return ambit.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	found := s.find(c.Key, now)
	if c.Approval.ID != "" {
		found.Approval = lifecycle.Missing(c.Approval.ID)
		if p := s.proposals[c.Approval.ID]; p != nil {
			row := p.Clone()
			found.Approval, _, _ = row.Claim(c, now)
		}
	}
	return found, nil
}

// find returns the record under a key.
func (s *Store) find(key ambit.Digest, now time.Time) ambit.Record {
	c := s.calls[key]
	if key == (ambit.Digest{}) || c == nil || !now.Before(c.expires) {
		return ambit.Record{}
	}
	found := ambit.Record{State: ambit.RecordRunning, Operation: c.operation, Outcome: c.outcome}
	switch p := s.proposals[c.covered]; {
	case p != nil:
		row := p.Clone()
		row.Lapse(now)
		found.State, found.Outcome, found.By = row.KeyState(), row.Outcome, ambit.Standing{ID: row.ID, State: row.State}
	case c.finished:
		found.State = ambit.RecordFinished
	case !now.Before(c.lapses):
		found.State = ambit.RecordUnknown
	}
	return found
}

// Claim takes what the claim names or nothing, see [ambit.Ledger].
func (s *Store) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	return s.claim(ctx, c, nil)
}

// ClaimWith is Claim with an entry for the audit record, see [audit.Store].
func (s *Store) ClaimWith(ctx context.Context, c ambit.Claim, e audit.Entry) (ambit.Record, error) {
	return s.claim(ctx, c, &e)
}

func (s *Store) claim(ctx context.Context, c ambit.Claim, e *audit.Entry) (ambit.Record, error) {
	if err := ctx.Err(); err != nil {
		return ambit.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.sweep(now)
	found := s.find(c.Key, now)
	var row lifecycle.Row
	taken := true
	if c.Approval.ID != "" {
		found.Approval, taken = lifecycle.Missing(c.Approval.ID), false
		if p := s.proposals[c.Approval.ID]; p != nil {
			var changed bool
			row = p.Clone()
			if found.Approval, taken, changed = row.Claim(c, now); changed && !taken && found.State == ambit.RecordFree {
				s.write(row)
			}
		}
	}
	if found.State != ambit.RecordFree || !taken {
		return found, nil
	}
	if err := s.record(e); err != nil {
		return ambit.Record{}, err
	}
	if c.Approval.ID != "" {
		s.write(row)
	}
	if c.Key != (ambit.Digest{}) {
		s.calls[c.Key] = &call{
			attempt: c.Attempt, operation: c.Binding.Operation(), covered: c.Approval.ID,
			lapses: now.Add(c.Lease), expires: now.Add(max(keepKeys, c.Lease)),
		}
	}
	return ambit.Record{}, nil
}

// Finish keeps how the claimed call has ended, see [ambit.Ledger].
func (s *Store) Finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	return s.finish(ctx, c, e, nil)
}

// FinishWith is Finish with an entry for the audit record, see [audit.Store].
func (s *Store) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	return s.finish(ctx, c, ending, &e)
}

func (s *Store) finish(ctx context.Context, c ambit.Claim, ending ambit.Ending, e *audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(ending.Outcome) > maxOutcome {
		ending.Outcome = ending.Receipt
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	// The outcome belongs to the proposal, which the key points to, or else to the
	// key.
	done := func() {}
	switch p, under := s.proposals[c.Approval.ID], s.calls[c.Key]; {
	case c.Approval.ID != "":
		if p == nil {
			return errNoClaim
		}
		row := p.Clone()
		switch {
		case row.Finish(c, ending, now):
		case e == nil && row.EndedBy(c):
			return nil
		default:
			return errNoClaim
		}
		done = func() { s.write(row) }
	case c.Key != ambit.Digest{}:
		switch {
		case under == nil || under.attempt != c.Attempt || !now.Before(under.expires) || under.finished && e != nil:
			return errNoClaim
		case under.finished:
			return nil
		}
		done = func() { under.finished, under.outcome = true, slices.Clone(ending.Outcome) }
	}
	if err := s.record(e); err != nil {
		return err
	}
	done()
	return nil
}

// Release gives back what Claim took, see [ambit.Ledger].
func (s *Store) Release(ctx context.Context, c ambit.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.proposals[c.Approval.ID]; p != nil {
		if row := p.Clone(); row.Release(c) {
			s.write(row)
		}
	}
	if under := s.calls[c.Key]; under != nil && under.attempt == c.Attempt && !under.finished {
		delete(s.calls, c.Key)
	}
	return nil
}
