package ambittest

import (
	"slices"
	"sync"
)

// script gives out what a test wrote down, in order, and keeps what it was asked.
type script[Asked, Said any] struct {
	mu    sync.Mutex
	asked []Asked
	said  []Said // what is left
}

// next keeps what was asked and returns the next thing to say, if one is left.
func (s *script[Asked, Said]) next(asked Asked) (said Said, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked)
	if len(s.said) == 0 {
		return said, false
	}
	said, s.said = s.said[0], s.said[1:]
	return said, true
}

func (s *script[Asked, Said]) soFar() (asked []Asked, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked), len(s.said)
}
