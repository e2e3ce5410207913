package memory

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Propose returns the record that answers for an operation or makes it, see
// [approval.Store].
func (s *Store) Propose(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (approval.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	open, before := s.answering[p.Binding.Operation()], lifecycle.Row{}
	if open != nil {
		before = open.Clone()
		stays, changed, raised := before.Ask(p, now)
		if stays && changed {
			s.write(before)
		}
		if stays {
			return before.Record, raised, nil
		}
	}
	if err := s.tooMany(p, caps, now); err != nil {
		return approval.Record{}, false, err
	}
	row := lifecycle.New(id, p, now)
	if err := s.add(row, e); err != nil {
		return approval.Record{}, false, err
	}
	if open != nil {
		s.write(before)
	}
	return row.Clone().Record, true, nil
}

// tooMany holds the caps.
func (s *Store) tooMany(p ambit.Proposal, caps approval.Caps, now time.Time) error {
	var requester, tenant lifecycle.Waiting
	count := func(w *lifecycle.Waiting, until time.Time) {
		if w.Rows++; w.Rows == 1 || until.Before(w.Next) {
			w.Next = until
		}
	}
	for _, other := range s.proposals {
		if other.Kind != ambit.KindApproval || other.State != ambit.ProposalPending || !now.Before(other.DecideBy) || other.Proposal.Binding.Tenant != p.Binding.Tenant {
			continue
		}
		count(&tenant, other.DecideBy)
		if other.Proposal.Binding.Principal == p.Binding.Principal {
			count(&requester, other.DecideBy)
		}
	}
	return lifecycle.TooMany(caps, requester, tenant, now)
}

// Consent makes a record that answers for nothing, see [approval.Store].
func (s *Store) Consent(ctx context.Context, id string, p ambit.Proposal, d approval.Decision, e *audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(lifecycle.Consent(id, p, d, s.now()), e)
}

// Get returns a record, see [approval.Store].
func (s *Store) Get(ctx context.Context, tenant, id string) (approval.Record, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.row(tenant, id)
	row.Lapse(s.now())
	return row.Record, err
}

// List returns a page of records, newest first, see [approval.Store].
func (s *Store) List(ctx context.Context, f approval.Filter) (page []approval.Record, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	before, limit, err := lifecycle.Page(f.After, f.Limit, 50, 200)
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, p := range slices.SortedFunc(maps.Values(s.proposals), func(a, b *proposal) int { return b.number - a.number }) {
		if p.Proposal.Binding.Tenant != f.Tenant || before > 0 && int64(p.number) >= before {
			continue
		}
		row := p.Clone()
		row.Lapse(now)
		if !matches(&row, f) {
			continue
		}
		if len(page) == limit {
			return page, next, nil
		}
		row.Proposal.Input, row.Outcome = nil, nil
		page, next = append(page, row.Record), strconv.Itoa(p.number)
	}
	return page, "", nil
}

func matches(r *lifecycle.Row, f approval.Filter) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, r.State)) &&
		(f.Requester == "" || f.Requester == r.Proposal.Binding.Principal) &&
		(f.Capability == "" || f.Capability == r.Proposal.Binding.Capability) &&
		(f.Operation == ambit.Digest{} || f.Operation == r.Operation)
}

// Decide adds a decision, see [approval.Store].
func (s *Store) Decide(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (approval.Record, bool, error) {
	return s.change(ctx, tenant, id, e, func(r *lifecycle.Row, now time.Time) (bool, bool) { return r.Decide(d, now) })
}

// Reconsider takes decisions back, see [approval.Store].
func (s *Store) Reconsider(ctx context.Context, tenant, id string, c approval.Change, e *audit.Entry) (approval.Record, bool, error) {
	return s.change(ctx, tenant, id, e, func(r *lifecycle.Row, now time.Time) (bool, bool) { return r.Reconsider(c, now) })
}

// change does something to a record that a person has asked for.
func (s *Store) change(ctx context.Context, tenant, id string, e *audit.Entry,
	do func(*lifecycle.Row, time.Time) (changed, lapsed bool),
) (approval.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.row(tenant, id)
	if err != nil {
		return approval.Record{}, false, err
	}
	changed, lapsed := do(&row, s.now())
	if changed {
		if err := s.record(e); err != nil {
			return approval.Record{}, false, err
		}
	}
	if changed || lapsed {
		s.write(row)
	}
	return row.Record, changed, nil
}

// Forget removes records that have long been closed, see [approval.Store], and
// keys, nonces and rates that have expired.
func (s *Store) Forget(ctx context.Context, keep time.Duration) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.forgetExpired(now)
	before := now.Add(-keep)
	maps.DeleteFunc(s.grants, func(_ string, g *grant) bool {
		return !g.Until.After(before) || !g.Revoked.At.IsZero() && !g.Revoked.At.After(before)
	})
	covering := make(map[string]bool)
	for _, c := range s.calls {
		covering[c.covered] = true
	}
	forgotten := 0
	for id, p := range s.proposals {
		row := p.Clone()
		if covering[id] || !row.Forgettable(now, keep) {
			continue
		}
		if s.answering[row.Operation] == p {
			delete(s.answering, row.Operation)
		}
		delete(s.proposals, id)
		forgotten++
	}
	return forgotten, nil
}

// row returns a copy of a tenant's row.
func (s *Store) row(tenant, id string) (lifecycle.Row, error) {
	p := s.proposals[id]
	if p == nil || p.Proposal.Binding.Tenant != tenant {
		return lifecycle.Row{}, approval.ErrNotFound
	}
	return p.Clone(), nil
}

// add adds a row and the entry that tells of it.
func (s *Store) add(row lifecycle.Row, e *audit.Entry) error {
	if s.proposals[row.ID] != nil {
		return errTaken
	}
	if err := s.record(e); err != nil {
		return err
	}
	s.proposed++
	p := &proposal{Row: row, number: s.proposed}
	s.proposals[row.ID] = p
	if row.Open {
		s.answering[row.Operation] = p
	}
	return nil
}

// write replaces a row by a later state of it. The row must not be changed
// afterwards by what it shares with the caller's.
func (s *Store) write(row lifecycle.Row) {
	p := s.proposals[row.ID]
	p.Row = row.Clone()
	if !row.Open && s.answering[row.Operation] == p {
		delete(s.answering, row.Operation)
	}
}
