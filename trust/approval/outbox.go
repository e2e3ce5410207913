package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// outboxSize is how many notices may wait for one notifier.
const outboxSize = 256

// outbox hands notices to one notifier, one after the other, so that neither a
// call nor another notifier waits for it. Its goroutine begins with the first
// notice and ends with close.
type outbox struct {
	to     Notifier
	logger *slog.Logger

	ctx    context.Context // of the notifier; ended by cancel
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   chan Notice // nil until the first notice
	closed  bool
	dropped int // since the last notice that found room
}

func newOutbox(to Notifier, logger *slog.Logger) *outbox {
	o := &outbox{to: to, logger: logger, done: make(chan struct{})}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// put takes a notice, or logs that there is no room. It never waits.
func (o *outbox) put(n Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		o.logger.Warn("a proposal waits and nobody is told: approvals are closed", slog.String("proposal", n.ID))
		return
	}
	if o.queue == nil {
		o.queue = make(chan Notice, outboxSize)
		go o.run(o.queue)
	}
	select {
	case o.queue <- n:
		o.dropped = 0
	default:
		if o.dropped++; o.dropped == 1 { // one line for a burst
			o.logger.Error("proposals wait and nobody is told: too many notices are under way", slog.String("notifier", fmt.Sprintf("%T", o.to)), slog.String("proposal", n.ID))
		}
	}
}

func (o *outbox) run(queue <-chan Notice) {
	defer close(o.done)
	for n := range queue {
		if err := o.notify(n); err != nil {
			o.logger.Error("nobody was told of a proposal", slog.String("notifier", fmt.Sprintf("%T", o.to)), slog.String("proposal", n.ID), slog.Any("cause", err))
		}
	}
}

// notify contains a panic of the notifier.
func (o *outbox) notify(n Notice) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the notifier panicked: %v\n%s", v, debug.Stack())
		}
	}()
	if err := o.ctx.Err(); err != nil {
		return err
	}
	return o.to.Notify(o.ctx, n)
}

// close lets the notifier finish what waits until ctx ends, and returns when its
// goroutine has ended.
func (o *outbox) close(ctx context.Context) error {
	o.mu.Lock()
	first, started := !o.closed, o.queue != nil
	o.closed = true
	if first && started {
		close(o.queue)
	}
	o.mu.Unlock()
	defer o.cancel()
	if !started {
		return nil
	}
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		o.cancel()
		<-o.done
		return errors.New("approval: not all notices were passed on before the time to close was over")
	}
}
