package ambit

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// newLazy returns a call's context as a handler gets it.
func newLazy(parent context.Context, life time.Duration) *callContext {
	c := &callContext{}
	c.parent = parent
	if life > 0 {
		c.start(time.Now().Add(life))
	}
	return c
}

func TestLazyContext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		life time.Duration
		do   func(c *callContext, cancel func())
		want error
	}{
		{"fresh", time.Minute, func(*callContext, func()) {}, nil},
		{"deadline, listened to", time.Minute, func(c *callContext, _ func()) { <-c.Done() }, context.DeadlineExceeded},
		{"deadline, not listened to", time.Minute, func(*callContext, func()) { <-time.After(time.Minute) }, context.DeadlineExceeded},
		{"listened to, then started", 0, func(c *callContext, _ func()) {
			c.Done()
			c.start(time.Now().Add(time.Minute))
			<-c.Done()
		}, context.DeadlineExceeded},
		{"closed", time.Minute, func(c *callContext, _ func()) { c.close() }, context.Canceled},
		{"closed while listened to", time.Minute, func(c *callContext, _ func()) { c.Done(); c.close(); <-c.Done() }, context.Canceled},
		{"closed, then listened to", 0, func(c *callContext, _ func()) { c.close(); <-c.Done() }, context.Canceled},
		{"parent ends", time.Minute, func(_ *callContext, cancel func()) { cancel() }, context.Canceled},
		{"parent ends, listened to", 0, func(c *callContext, cancel func()) { c.Done(); cancel(); <-c.Done() }, context.Canceled},
		{"stands still", time.Minute, func(c *callContext, _ func()) {
			c.Done()
			c.suspend()
			c.suspend()
			<-time.After(time.Hour)
			c.resume()
			<-time.After(time.Hour)
			c.resume()
			<-time.After(59 * time.Second)
		}, nil},
		{"stands still, then runs out", time.Minute, func(c *callContext, _ func()) {
			<-time.After(30 * time.Second)
			c.suspend()
			<-time.After(time.Hour)
			c.resume()
			<-time.After(30 * time.Second)
		}, context.DeadlineExceeded},
		{"closed while it stands still", time.Minute, func(c *callContext, _ func()) { c.suspend(); c.close(); c.resume() }, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.Background())
				defer cancel()
				c := newLazy(parent, test.life)
				test.do(c, cancel)
				synctest.Wait()
				if got := c.Err(); !errors.Is(got, test.want) || (got == nil) != (test.want == nil) {
					t.Errorf("want %v, got %v", test.want, got)
				}
				select {
				case <-c.Done():
					if test.want == nil {
						t.Error("done without an error")
					}
				default:
					if test.want != nil {
						t.Error("an error without being done")
					}
				}
				c.close()
			})
		})
	}
}

// Contexts made from a call's context end with it, and start no goroutine.
func TestLazyContextChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLazy(context.Background(), time.Hour)
		defer c.close()
		before := runtime.NumGoroutine()
		children := make([]context.Context, 100)
		for i := range children {
			child, cancel := context.WithCancel(context.WithValue(c, childKey{}, i))
			defer cancel()
			children[i] = child
		}
		if after := runtime.NumGoroutine(); after > before {
			t.Errorf("100 children started %d goroutines", after-before)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		if err := children[99].Err(); err == nil || context.Cause(children[99]) != context.DeadlineExceeded {
			t.Errorf("child: want an error caused by the deadline, got %v caused by %v", err, context.Cause(children[99]))
		}
	})
}

type childKey struct{}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"notes.serch", "notes.search", 1},
		{"ntoes", "notes", 2},
		{"kitten", "sitting", 3},
		{"abcd", "wxyz", maxDistance + 1},
		{"a", "abcdefgh", maxDistance + 1},
	} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("%q to %q: want %d, got %d", test.a, test.b, test.want, got)
		}
		if got := editDistance(test.b, test.a); got != test.want {
			t.Errorf("%q to %q: want %d, got %d", test.b, test.a, test.want, got)
		}
	}
}
