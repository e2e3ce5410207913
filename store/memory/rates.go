package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
)

// Take takes a token from a bucket that fills at a rate, or says how long it
// takes until there is one. A bucket is always used with one rate.
func (s *Store) Take(ctx context.Context, name string, r ambit.Rate) (wait time.Duration, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	limit, fault := bucket.New(r.Calls, r.Per, r.Burst)
	if fault != "" {
		return 0, fmt.Errorf("memory: the rate of the bucket %q: %s", name, fault)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.sweep(now)
	b := s.rates[name]
	if b == nil {
		b = &bucket.Bucket{}
		s.rates[name] = b
	}
	if wait = b.Wait(limit, now); wait == 0 {
		b.Take(limit, now)
	}
	return wait, nil
}
