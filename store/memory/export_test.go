package memory

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit/trust/approval"
)

// Version returns where a part of the row of a proposal is, which every write makes
// anew.
func (s *Store) Version(_ context.Context, id string) (place string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.proposals[id]
	if p == nil {
		return "", approval.ErrNotFound
	}
	return fmt.Sprintf("%p", p.Proposal.Requester), nil
}

// Expiring counts what the store keeps for a time.
func (s *Store) Expiring(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls) + len(s.used) + len(s.rates), nil
}
