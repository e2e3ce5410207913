package oauth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// Replays remembers what may be used once. Several instances of an application
// share one (rule T32). It must be safe for concurrent use.
type Replays interface {
	// Record notes a key, of at most 100 bytes of ASCII, until a time, and reports
	// whether it was not noted before. Of many that record one key at the same
	// time, one is told so. What of a key stands before its dot is the same for all
	// that one principal uses. An error, and no answer within 5 seconds: nobody can
	// tell; the request is answered 503.
	Record(ctx context.Context, key string, until time.Time) (fresh bool, err error)
}

const (
	// maxReplays is how many keys are remembered at a time, and maxShare how many
	// of one principal.
	maxReplays = 1 << 17
	maxShare   = maxReplays / 4
	// replaySlot is how coarsely times are kept.
	replaySlot = 8 * time.Second
	// recordWithin is how long a record may take.
	recordWithin = 5 * time.Second
)

// memory is the Replays of one process. It forgets by slots of time, so that no key
// has to be looked for.
type memory struct {
	mu     sync.Mutex
	keys   map[string]struct{}
	shares map[string]int     // how many keys each principal has
	slots  map[int64][]string // what to forget, by when
	tidied int64              // the slot in which that was done last
}

func newMemory() *memory {
	return &memory{keys: map[string]struct{}{}, shares: map[string]int{}, slots: map[int64][]string{}}
}

// Record implements [Replays].
func (m *memory) Record(_ context.Context, key string, until time.Time) (bool, error) {
	share, _, _ := strings.Cut(key, ".")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(slotOf(time.Now()))
	if _, ok := m.keys[key]; ok {
		return false, nil
	}
	if len(m.keys) >= maxReplays || m.shares[share] >= maxShare {
		return false, errors.New("too many DPoP proofs to remember")
	}
	m.keys[key] = struct{}{}
	m.shares[share]++
	at := slotOf(until)
	m.slots[at] = append(m.slots[at], key)
	return true, nil
}

func slotOf(t time.Time) int64 { return t.Unix() / int64(replaySlot/time.Second) }

// forget drops the slots before now. There are few: as many as the life of a proof
// has.
func (m *memory) forget(now int64) {
	if now == m.tidied {
		return
	}
	m.tidied = now
	for at, keys := range m.slots {
		if at >= now {
			continue
		}
		for _, key := range keys {
			delete(m.keys, key)
			share, _, _ := strings.Cut(key, ".")
			if m.shares[share]--; m.shares[share] == 0 {
				delete(m.shares, share)
			}
		}
		delete(m.slots, at)
	}
}
