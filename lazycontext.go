package ambit

import (
	"context"
	"sync"
	"time"
)

// lazyContext is a cancelable context with an optional deadline that costs
// nothing until somebody listens: most handlers never look at Done, and a timer
// per call is dear. It delegates to a context of the standard library from the
// moment when it is armed, so that contexts made from it start no goroutine.
//
// Its deadline can stand still, while a person is asked about a call that the
// handler makes. That is why the timer is its own: contexts made from it see
// Canceled when the deadline passes, and context.Cause says DeadlineExceeded.
type lazyContext struct {
	parent context.Context

	mu        sync.Mutex
	deadline  time.Time // zero: none
	armed     context.Context
	cancel    context.CancelCauseFunc
	timer     *time.Timer // of an armed context with a deadline that runs
	timedOut  bool
	closed    bool
	waits     int       // how many questions it stands still for
	suspended time.Time // since when
}

// start sets the deadline of a context that nobody listens to yet.
func (c *lazyContext) start(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = deadline
}

// Deadline returns the earlier of the parent's deadline and the context's own,
// which moves while the context stands still.
func (c *lazyContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	own := c.deadline
	c.mu.Unlock()
	outer, ok := c.parent.Deadline()
	if own.IsZero() || ok && outer.Before(own) {
		return outer, ok
	}
	return own, true
}

// Done arms the context.
func (c *lazyContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		c.armed, c.cancel = context.WithCancelCause(c.parent)
		switch {
		case c.timedOut:
			c.cancel(context.DeadlineExceeded)
		case c.closed:
			c.cancel(context.Canceled)
		default:
			c.run()
		}
	}
	return c.armed.Done()
}

// run starts the timer of an armed context, with mu held.
func (c *lazyContext) run() {
	if !c.deadline.IsZero() && c.waits == 0 && c.armed != nil {
		c.timer = time.AfterFunc(time.Until(c.deadline), c.expire)
	}
}

func (c *lazyContext) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits > 0 || c.closed || time.Now().Before(c.deadline) {
		return
	}
	c.timedOut = true
	c.cancel(context.DeadlineExceeded)
}

// Err says whether the context has ended, without arming it.
func (c *lazyContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.timedOut:
		return context.DeadlineExceeded
	case c.armed != nil && c.armed.Err() != nil:
		return c.armed.Err()
	case c.closed:
		return context.Canceled
	}
	if err := c.parent.Err(); err != nil {
		return err
	}
	if !c.deadline.IsZero() && c.waits == 0 && !time.Now().Before(c.deadline) {
		c.timedOut = true
		if c.armed != nil {
			c.cancel(context.DeadlineExceeded)
		}
		return context.DeadlineExceeded
	}
	return nil
}

// value looks a key up in the armed context, so that the standard library finds
// the cancelable context within, or else in the parent.
func (c *lazyContext) value(key any) any {
	c.mu.Lock()
	armed := c.armed
	c.mu.Unlock()
	if armed != nil {
		return armed.Value(key)
	}
	return c.parent.Value(key)
}

// suspend makes the deadline stand still until resume has been called as often.
func (c *lazyContext) suspend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits++; c.waits > 1 {
		return
	}
	c.suspended = time.Now()
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *lazyContext) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits > 0 {
		return
	}
	if !c.deadline.IsZero() && !c.timedOut {
		c.deadline = c.deadline.Add(time.Since(c.suspended))
	}
	if !c.closed {
		c.run()
	}
}

// close cancels the context and whatever was made from it.
func (c *lazyContext) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.cancel != nil {
		c.cancel(context.Canceled)
	}
}
