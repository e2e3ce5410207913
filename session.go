package ambit

import (
	"crypto/sha256"
	"sync"
	"time"
)

// SessionLife is how long an answer "for this session" holds.
const SessionLife = 8 * time.Hour

// Session keeps what the person of a run has allowed for a session: by
// capability for a write, by capability and input (or the fields that
// [Spec.GrantBy] names) for everything else, and never for a destructive call.
// It is bound to the principal who answered and to the contract as it was then:
// another of the same name has to be asked about anew. A run has one of its own and
// shares it with the runs made within it; an application that serves one
// conversation in several runs gives them one ([RunOptions.Session]). It is
// kept in memory and is safe for concurrent use.
type Session struct {
	mu     sync.Mutex
	grants map[grant]time.Time // until when
}

// NewSession returns a session in which nothing has been allowed yet.
func NewSession() *Session { return &Session{} }

// Revoke forgets everything that was allowed.
func (s *Session) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.grants)
}

// grant is what one answer allowed.
type grant struct {
	principal string
	contract  Digest            // and not the name, which the capability of another run may have
	input     [sha256.Size]byte // of the fields that count; zero for a write
}

func (s *Session) allow(g grant, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grants == nil {
		s.grants = map[grant]time.Time{}
	}
	for old, until := range s.grants {
		if !now.Before(until) {
			delete(s.grants, old)
		}
	}
	s.grants[g] = now.Add(SessionLife)
}

func (s *Session) allows(g grant, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.grants[g]
	return ok && now.Before(until)
}
