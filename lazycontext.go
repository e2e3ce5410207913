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

	mu       sync.Mutex
	closed   bool
	deadline time.Time // zero: none
	heard    *heard    // nil until somebody listens, or it stands still
}

// heard is the part of a lazyContext that most calls never need.
type heard struct {
	armed     context.Context // nil until somebody listens
	cancel    context.CancelCauseFunc
	timer     *time.Timer // of an armed context with a deadline that runs
	timedOut  bool
	waits     int       // how many questions it stands still for
	suspended time.Time // since when
}

// start sets the deadline of a context that has none yet. Somebody may listen
// already, such as a prompter or a ledger that was asked.
func (c *lazyContext) start(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = deadline
	if c.heard != nil && !c.closed {
		c.run(c.heard)
	}
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

// hear returns the part that is made when it is needed, with mu held.
func (c *lazyContext) hear() *heard {
	if c.heard == nil {
		c.heard = &heard{}
	}
	return c.heard
}

// Done arms the context.
func (c *lazyContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hear()
	if h.armed == nil {
		h.armed, h.cancel = context.WithCancelCause(c.parent)
		switch {
		case h.timedOut:
			h.cancel(context.DeadlineExceeded)
		case c.closed:
			h.cancel(context.Canceled)
		default:
			c.run(h)
		}
	}
	return h.armed.Done()
}

// run starts the timer of an armed context, with mu held.
func (c *lazyContext) run(h *heard) {
	if !c.deadline.IsZero() && h.waits == 0 && h.armed != nil {
		h.timer = time.AfterFunc(time.Until(c.deadline), c.expire)
	}
}

func (c *lazyContext) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heard
	if h.waits > 0 || c.closed || time.Now().Before(c.deadline) {
		return
	}
	h.timedOut = true
	h.cancel(context.DeadlineExceeded)
}

// Err says whether the context has ended, without arming it.
func (c *lazyContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heard
	switch {
	case h != nil && h.timedOut:
		return context.DeadlineExceeded
	case h != nil && h.armed != nil && h.armed.Err() != nil:
		return h.armed.Err()
	case c.closed:
		return context.Canceled
	}
	if err := c.parent.Err(); err != nil {
		return err
	}
	if !c.deadline.IsZero() && (h == nil || h.waits == 0) && !time.Now().Before(c.deadline) {
		h = c.hear()
		h.timedOut = true
		if h.armed != nil {
			h.cancel(context.DeadlineExceeded)
		}
		return context.DeadlineExceeded
	}
	return nil
}

// value looks a key up in the armed context, so that the standard library finds
// the cancelable context within, or else in the parent.
func (c *lazyContext) value(key any) any {
	c.mu.Lock()
	at := c.parent
	if c.heard != nil && c.heard.armed != nil {
		at = c.heard.armed
	}
	c.mu.Unlock()
	return at.Value(key)
}

// suspend makes the deadline stand still until resume has been called as often.
func (c *lazyContext) suspend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hear()
	if h.waits++; h.waits > 1 {
		return
	}
	h.suspended = time.Now()
	if h.timer != nil {
		h.timer.Stop()
	}
}

func (c *lazyContext) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heard
	if h.waits--; h.waits > 0 {
		return
	}
	if !c.deadline.IsZero() && !h.timedOut {
		c.deadline = c.deadline.Add(time.Since(h.suspended))
	}
	if !c.closed {
		c.run(h)
	}
}

// close cancels the context and whatever was made from it.
func (c *lazyContext) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if h := c.heard; h != nil {
		if h.timer != nil {
			h.timer.Stop()
		}
		if h.cancel != nil {
			h.cancel(context.Canceled)
		}
	}
}
