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
type lazyContext struct {
	parent   context.Context
	deadline time.Time // zero: none

	mu     sync.Mutex
	armed  context.Context
	cancel context.CancelFunc
	closed bool
}

func (c *lazyContext) Deadline() (time.Time, bool) {
	outer, ok := c.parent.Deadline()
	if c.deadline.IsZero() || ok && outer.Before(c.deadline) {
		return outer, ok
	}
	return c.deadline, true
}

func (c *lazyContext) arm() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		if c.deadline.IsZero() {
			c.armed, c.cancel = context.WithCancel(c.parent)
		} else {
			c.armed, c.cancel = context.WithDeadline(c.parent, c.deadline)
		}
		if c.closed {
			c.cancel()
		}
	}
	return c.armed
}

func (c *lazyContext) Done() <-chan struct{} { return c.arm().Done() }

func (c *lazyContext) Err() error { return c.arm().Err() }

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

// close cancels the context and whatever was made from it.
func (c *lazyContext) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.cancel != nil {
		c.cancel()
	}
}

// expired reports cheaply whether the context has ended, without arming it.
func (c *lazyContext) expired() error {
	c.mu.Lock()
	armed, closed := c.armed, c.closed
	c.mu.Unlock()
	switch {
	case armed != nil:
		return armed.Err()
	case closed:
		return context.Canceled
	}
	if err := c.parent.Err(); err != nil {
		return err
	}
	if !c.deadline.IsZero() && !time.Now().Before(c.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
