package ambit

import (
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/ambit-dev/ambit/internal/bucket"
)

// callers counts what each principal is doing, by its key. Principals are spread
// over shards so that calls of different ones seldom wait for one another.
type callers struct {
	seed   maphash.Seed
	shards [64]callerShard
}

type callerShard struct {
	mu    sync.Mutex
	known bucket.Table[string, caller]
}

// caller is what is counted of one principal. The zero caller is an idle one.
type caller struct {
	rate     bucket.Bucket
	rates    map[string]bucket.Bucket // of capabilities that have a rate, while not full
	inFlight int                      // calls at work
}

func newCallers() *callers {
	c := &callers{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].known = bucket.NewTable[string]((*caller).idle, 0)
	}
	return c
}

func (c *callers) shard(key string) *callerShard {
	return &c.shards[maphash.String(c.seed, key)%uint64(len(c.shards))]
}

// idle reports whether nothing is lost by forgetting the caller.
func (c *caller) idle(now time.Time) bool {
	maps.DeleteFunc(c.rates, func(_ string, b bucket.Bucket) bool { return b.Full(now) })
	return c.inFlight == 0 && len(c.rates) == 0 && c.rate.Full(now)
}

// take takes a token from the caller's bucket and from the one for a
// capability, or from neither: then it says which is empty and how long to
// wait.
func (c *callers) take(key string, rate bucket.Limit, capability string, own bucket.Limit, now time.Time) (Limit, time.Duration) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.known.At(key, now)
	if wait := who.rate.Wait(rate, now); wait > 0 {
		return LimitRate, wait
	}
	if own != (bucket.Limit{}) {
		b := who.rates[capability]
		if wait := b.Wait(own, now); wait > 0 {
			return LimitCapabilityRate, wait
		}
		b.Take(own, now)
		if who.rates == nil {
			who.rates = map[string]bucket.Bucket{}
		}
		who.rates[capability] = b
	}
	who.rate.Take(rate, now)
	return 0, 0
}

// enter counts one more call at work, unless there are as many as there may be.
// It returns how many there are then.
func (c *callers) enter(key string, most int, now time.Time) (inFlight int, ok bool) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.known.At(key, now)
	if who.inFlight >= most {
		return who.inFlight, false
	}
	who.inFlight++
	return who.inFlight, true
}

// leave counts one call less. Where it overtakes the enter that it belongs to,
// the count is below zero for that moment.
func (c *callers) leave(key string) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.known.Find(key)
	if who == nil {
		who = s.known.At(key, time.Now())
	}
	who.inFlight--
}
