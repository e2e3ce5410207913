package oauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Replays remembers what may be used once. Several instances of an application
// share one (rule T32). It must be safe for concurrent use.
type Replays interface {
	// Record notes a key, of at most 100 bytes of ASCII, until a time, and reports
	// whether it was not noted before. Of many that record one key at the same
	// time, one is told so. An error: nobody can tell; the request is answered 503.
	Record(ctx context.Context, key string, until time.Time) (fresh bool, err error)
}

const (
	// maxReplays is how many keys are remembered at a time.
	maxReplays = 1 << 17
	// replayTurn is longer than any key is to be remembered.
	replayTurn = 3 * time.Minute
)

// memory is the Replays of one process. It has two halves; each takes keys for a
// turn and is kept for another, so that no key has to be looked for to be
// forgotten.
type memory struct {
	mu         sync.Mutex
	young, old map[string]struct{}
	turned     time.Time
}

// Record implements [Replays].
func (m *memory) Record(_ context.Context, key string, _ time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if age := now.Sub(m.turned); age >= replayTurn {
		if m.old = m.young; age >= 2*replayTurn {
			m.old = nil
		}
		m.young, m.turned = make(map[string]struct{}), now
	}
	if _, ok := m.young[key]; ok {
		return false, nil
	}
	if _, ok := m.old[key]; ok {
		return false, nil
	}
	if len(m.young)+len(m.old) >= maxReplays {
		return false, errors.New("too many DPoP proofs to remember")
	}
	m.young[key] = struct{}{}
	return true, nil
}
