package memory

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// grant is a standing grant and its number in the order in which they were given.
type grant struct {
	approval.Grant
	number int
}

// Give keeps a grant, see [approval.GrantStore].
func (s *Store) Give(ctx context.Context, g approval.Grant, e *audit.Entry) (approval.Grant, error) {
	if err := ctx.Err(); err != nil {
		return approval.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grants[g.ID] != nil {
		return approval.Grant{}, errTaken
	}
	if err := s.record(e); err != nil {
		return approval.Grant{}, err
	}
	given := lifecycle.Given(g, s.now())
	s.granted++
	s.grants[g.ID] = &grant{given, s.granted}
	return lifecycle.KeptGrant(given), nil
}

// Grant returns a grant, see [approval.GrantStore].
func (s *Store) Grant(ctx context.Context, tenant, id string) (approval.Grant, error) {
	if err := ctx.Err(); err != nil {
		return approval.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grant(tenant, id)
}

// grant returns a copy of a tenant's grant.
func (s *Store) grant(tenant, id string) (approval.Grant, error) {
	g := s.grants[id]
	if g == nil || g.Tenant != tenant {
		return approval.Grant{}, approval.ErrNotFound
	}
	return lifecycle.KeptGrant(g.Grant), nil
}

// Grants returns a page of grants, newest first, see [approval.GrantStore].
func (s *Store) Grants(ctx context.Context, f approval.GrantFilter) (page []approval.Grant, next string, err error) {
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
	for _, g := range slices.SortedFunc(maps.Values(s.grants), func(a, b *grant) int { return b.number - a.number }) {
		switch {
		case g.Tenant != f.Tenant, before > 0 && int64(g.number) >= before,
			f.Principal != "" && f.Principal != g.Principal, f.Capability != "" && f.Capability != g.Capability,
			f.Live && g.State(now) != approval.GrantLive:
			continue
		}
		if len(page) == limit {
			return page, next, nil
		}
		page, next = append(page, lifecycle.KeptGrant(g.Grant)), strconv.Itoa(g.number)
	}
	return page, "", nil
}

// DecideByGrant adds the word of a grant's granter, see [approval.GrantStore].
func (s *Store) DecideByGrant(ctx context.Context, tenant, id, grant string, preview ambit.Digest, e *audit.Entry) (approval.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.grant(tenant, grant)
	if err != nil {
		return approval.Record{}, false, err
	}
	row, err := s.row(tenant, id)
	if err != nil {
		return approval.Record{}, false, err
	}
	decided, lapsed := row.DecideByGrant(&g, preview, s.now())
	if decided {
		if err := s.record(e); err != nil {
			return approval.Record{}, false, err
		}
		s.grants[grant].Grant = g
	}
	if decided || lapsed {
		s.write(row)
	}
	return row.Record, decided, nil
}

// RevokeGrant ends a grant, see [approval.GrantStore].
func (s *Store) RevokeGrant(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (g approval.Grant, lost []approval.Record, changed bool, err error) {
	if err := ctx.Err(); err != nil {
		return approval.Grant{}, nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, err = s.grant(tenant, id); err != nil {
		return approval.Grant{}, nil, false, err
	}
	now := s.now()
	if !lifecycle.RevokeGrant(&g, d, now) {
		return g, nil, false, nil
	}
	if err := s.record(e); err != nil {
		return approval.Grant{}, nil, false, err
	}
	s.grants[id].Grant = lifecycle.KeptGrant(g)
	for _, p := range slices.SortedFunc(maps.Values(s.proposals), func(a, b *proposal) int { return a.number - b.number }) {
		row := p.Clone()
		if row.Proposal.Binding.Tenant != tenant {
			continue
		}
		changed, loses := row.Lose(id, d, now)
		if changed {
			s.write(row)
		}
		if loses {
			lost = append(lost, row.Record)
		}
	}
	return g, lost, true, nil
}
