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
