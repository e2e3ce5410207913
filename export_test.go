package ambit

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
