package approval

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// DefaultKeep is how long a closed record is kept unless [Options.Keep] says
// otherwise.
const DefaultKeep = 90 * 24 * time.Hour

// sweepInterval is how often an instance looks for what may be forgotten.
const sweepInterval = time.Hour

// retention removes what has been closed for long enough, apart from the calls
// that happen to set it off.
type retention struct {
	store  Store
	keep   time.Duration
	logger *slog.Logger

	ctx    context.Context // of the removal; ended by cancel
	cancel context.CancelFunc

	mu      sync.Mutex
	last    time.Time // when the last removal began; zero: none has
	closed  bool
	running sync.WaitGroup
}

func newRetention(store Store, keep time.Duration, logger *slog.Logger) *retention {
	r := &retention{store: store, keep: keep, logger: logger}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// due begins a removal where the last one was long enough ago. It never waits.
func (r *retention) due(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.last.IsZero() && now.Sub(r.last) < sweepInterval {
		return
	}
	r.last = now
	r.running.Go(func() {
		forgotten, err := r.store.Forget(r.ctx, r.keep)
		switch {
		case err != nil && r.ctx.Err() == nil:
			r.logger.Error("closed proposals cannot be removed", slog.Any("cause", err))
		case forgotten > 0:
			r.logger.Info("closed proposals removed", slog.Int("count", forgotten))
		}
	})
}

// close ends a removal under way, which the next one makes up for.
func (r *retention) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
}
