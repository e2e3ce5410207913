package ambit

import "time"

// Confirmation is what a token holds.
type Confirmation struct {
	ID      string
	Preview Digest
	Expires time.Time
}

// SealConfirmation writes a token.
func SealConfirmation(s *Sealer, c Confirmation, operation Digest, agent AgentIdentity) string {
	return confirmation{id: c.ID, preview: c.Preview, expires: c.Expires}.seal(s, operation, agent)
}

// OpenConfirmation reads a token.
func OpenConfirmation(s *Sealer, token string, operation Digest, agent AgentIdentity) (Confirmation, bool) {
	c, ok := openConfirmation(s, token, operation, agent)
	return Confirmation{ID: c.id, Preview: c.preview, Expires: c.expires}, ok
}

// AtWork returns how many slots are taken and how many bytes are counted.
func AtWork(a *App) (calls int, bytes int64) {
	for i := range a.callers.shards {
		s := &a.callers.shards[i]
		s.mu.Lock()
		for _, c := range s.known.All() {
			calls += c.inFlight
		}
		s.mu.Unlock()
	}
	return calls, a.inputBytes.Load()
}

// Remembered returns of how many principals something is kept.
func Remembered(a *App) (n int) {
	for i := range a.callers.shards {
		s := &a.callers.shards[i]
		s.mu.Lock()
		n += s.known.Len()
		s.mu.Unlock()
	}
	return n
}

// ShownSealer seals and opens as the inputs of proposals are, whether anybody
// decides in the process or not.
type ShownSealer struct{ s *reviewSealer }

// NewShownSealer returns that of a process with these keys.
func NewShownSealer(ring *KeyRing, keys *ReviewKeys, purpose, application string) ShownSealer {
	return ShownSealer{newReviewSealer(ring, keys, purpose, application)}
}

func (s ShownSealer) Seal(plain, bound []byte) []byte           { return s.s.seal(plain, bound) }
func (s ShownSealer) Open(sealed, bound []byte) ([]byte, error) { return s.s.open(sealed, bound) }

// Opened returns how many encapsulated keys are kept opened.
func (s ShownSealer) Opened() int { return len(s.s.opened) }

// MaxEncapsulated is the most of them.
const MaxEncapsulated = maxEncapsulated
