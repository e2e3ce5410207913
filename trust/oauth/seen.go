package oauth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// How long, and how many of, the tokens that were found valid are remembered.
const (
	seenFor = 60 * time.Second
	maxSeen = 4096
)

// hash is what a token goes by in memory.
type hash = [sha256.Size]byte

// seen remembers what was found out about tokens, by hash. It has two halves: when
// the young one is full it becomes the old one, and what nobody asked for since is
// gone with the old one before.
type seen[V any] struct {
	mu         sync.RWMutex
	young, old map[hash]V
}

func (s *seen[V]) get(h hash) (v V, ok bool) {
	s.mu.RLock()
	v, ok = s.young[h]
	if ok {
		s.mu.RUnlock()
		return v, true
	}
	v, ok = s.old[h]
	s.mu.RUnlock()
	if ok {
		s.put(h, v)
	}
	return v, ok
}

func (s *seen[V]) put(h hash, v V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= maxSeen {
		s.young, s.old = make(map[hash]V), s.young
	}
	s.young[h] = v
}

func (s *seen[V]) drop(h hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.young, h)
	delete(s.old, h)
}
