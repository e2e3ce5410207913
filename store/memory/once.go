package memory

import (
	"context"
	"strconv"
	"time"
)

// slack is how much longer than it was asked to something used is remembered: the
// clocks of those who ask differ.
const slack = time.Minute

// Nonces returns the part of the store that remembers the nonces of agents'
// signatures.
func (s *Store) Nonces() *Nonces { return &Nonces{s} }

// Nonces remembers nonces. It is safe for concurrent use.
type Nonces struct{ store *Store }

// Record notes a nonce of an agent until a time, and reports whether it was not
// noted before.
func (n *Nonces) Record(ctx context.Context, agent, nonce string, until time.Time) (fresh bool, err error) {
	return n.store.use(ctx, "nonce/"+strconv.Itoa(len(agent))+"/"+agent+nonce, until)
}

// Replays returns the part of the store that remembers proofs of possession.
func (s *Store) Replays() *Replays { return &Replays{s} }

// Replays remembers what may be used once. It is safe for concurrent use.
type Replays struct{ store *Store }

// Record notes a key until a time, and reports whether it was not noted before.
func (r *Replays) Record(ctx context.Context, key string, until time.Time) (fresh bool, err error) {
	return r.store.use(ctx, "replay/"+key, until)
}

func (s *Store) use(ctx context.Context, name string, until time.Time) (fresh bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.sweep(now)
	if before, ok := s.used[name]; ok && now.Before(before.Add(slack)) {
		return false, nil
	}
	s.used[name] = until
	return true, nil
}
