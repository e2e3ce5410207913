package ambit

import "sync"

// active are the calls under way, so that a halt can cancel them. Calls spread
// over shards by their ids, so that they do not wait for one another.
type active struct {
	shards [16]struct {
		mu    sync.Mutex
		first *Call
		_     [40]byte // shards do not share a cache line
	}
}

// add puts a call into the list. A call that was added must be removed.
func (a *active) add(c *Call) {
	shard := &a.shards[c.id%ID(len(a.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if c.next = shard.first; c.next != nil {
		c.next.previous = c
	}
	shard.first = c
}

func (a *active) remove(c *Call) {
	shard := &a.shards[c.id%ID(len(a.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if c.previous == nil {
		shard.first = c.next
	} else {
		c.previous.next = c.next
	}
	if c.next != nil {
		c.next.previous = c.previous
	}
	c.next, c.previous = nil, nil
}

// cancel ends the context of every call that one of the halts is about.
func (a *active) cancel(halts []Halt) {
	for i := range a.shards {
		shard := &a.shards[i]
		shard.mu.Lock()
		for c := shard.first; c != nil; c = c.next {
			for _, h := range halts {
				if h.stops(c) {
					c.ctx.close()
				}
			}
		}
		shard.mu.Unlock()
	}
}
