package webbotauth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"
)

// Nonces is the record of the nonces that were used. Instances of one
// application that share it see a request once between them. It must be safe for
// concurrent use, and of several calls with the same values at the same time one
// alone may be told that they are fresh.
type Nonces interface {
	// Record notes that an agent has used a nonce, and reports whether it had
	// not yet. Agent is the agent's URL and key, see ambit.AgentIdentity.String.
	// The note may be forgotten after until, when the signature has ended on any
	// instance. An error says that nobody can tell: what has to be sent once is
	// refused then. The context ends after 5 seconds.
	Record(ctx context.Context, agent, nonce string, until time.Time) (fresh bool, err error)
}

// DefaultNonces is how many nonces a [Memory] keeps.
const DefaultNonces = 100_000

// slot is how coarsely times are kept.
const slot = 16 * time.Second

// Memory is a record of nonces in the memory of this process. It is safe for
// concurrent use and starts nothing in the background.
type Memory struct {
	most int

	mu     sync.Mutex
	seen   map[noted]struct{}
	slots  map[int64][]noted // what to forget, by when
	first  int64             // no slot is older
	shares map[string]int    // how many each agent has, by its URL
}

type noted struct {
	agent string
	nonce [sha256.Size]byte
}

// NewMemory returns an empty record of at most this many nonces, each of some
// 150 bytes. Half of them are the most that one agent may have, however many keys
// it has. Beyond that Record is an error, until nonces have ended. Zero or less: 100,000.
func NewMemory(most int) *Memory {
	if most <= 0 {
		most = DefaultNonces
	}
	return &Memory{most: most, seen: map[noted]struct{}{}, slots: map[int64][]noted{}, shares: map[string]int{}}
}

var errFull = errors.New("webbotauth: no more nonces are kept in memory until some have ended")

// Record notes a nonce, see [Nonces].
func (m *Memory) Record(_ context.Context, agent, nonce string, until time.Time) (fresh bool, err error) {
	n := noted{agent, sha256.Sum256([]byte(nonce))}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(slotOf(time.Now()))
	if _, ok := m.seen[n]; ok {
		return false, nil
	}
	owner := urlOf(agent)
	if len(m.seen) >= m.most || m.shares[owner] >= m.most-m.most/2 {
		return false, errFull
	}
	at := slotOf(until)
	m.seen[n] = struct{}{}
	m.slots[at] = append(m.slots[at], n)
	m.shares[owner]++
	return true, nil
}

// urlOf returns the URL of an agent that is given as its URL and its key.
func urlOf(agent string) string {
	url, _, _ := strings.Cut(agent, " ")
	return url
}

func slotOf(t time.Time) int64 { return t.Unix() / int64(slot/time.Second) }

// forget drops the slots before now. There are few: as many as the lifetime of
// a signature has slots.
func (m *Memory) forget(now int64) {
	if now == m.first {
		return
	}
	m.first = now
	for at, list := range m.slots {
		if at >= now {
			continue
		}
		for _, n := range list {
			delete(m.seen, n)
			owner := urlOf(n.agent)
			if m.shares[owner]--; m.shares[owner] == 0 {
				delete(m.shares, owner)
			}
		}
		delete(m.slots, at)
	}
}
