package ambit

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestLazyContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		c := &callContext{}
		c.parent, c.deadline = parent, time.Now().Add(time.Minute)
		if err := c.expired(); err != nil {
			t.Errorf("fresh: want no error, got %v", err)
		}
		if d, ok := c.Deadline(); !ok || !d.Equal(c.deadline) {
			t.Errorf("deadline: want %v, got %v %v", c.deadline, d, ok)
		}
		child, stop := context.WithCancel(c)
		defer stop()
		<-time.After(time.Minute)
		synctest.Wait()
		if c.Err() != context.DeadlineExceeded || child.Err() != context.DeadlineExceeded || c.expired() != context.DeadlineExceeded {
			t.Errorf("after the deadline: want deadline exceeded, got %v, child %v, expired %v", c.Err(), child.Err(), c.expired())
		}
		c.close()

		unarmed := &callContext{}
		unarmed.parent, unarmed.deadline = parent, time.Now().Add(time.Minute)
		<-time.After(time.Minute)
		if unarmed.expired() != context.DeadlineExceeded {
			t.Errorf("unarmed after the deadline: got %v", unarmed.expired())
		}
		unarmed.close()

		closed := &callContext{}
		closed.parent = parent
		closed.close()
		if closed.Err() != context.Canceled || closed.expired() != context.Canceled {
			t.Errorf("closed: want canceled, got %v and %v", closed.Err(), closed.expired())
		}

		follows := &callContext{}
		follows.parent = parent
		done := follows.Done()
		cancel()
		<-done
		follows.close()
	})
}

// Contexts made from a call's context find the cancelable context within it
// and start no goroutine.
func TestLazyContextStartsNoGoroutine(t *testing.T) {
	c := &callContext{}
	c.parent, c.deadline = context.Background(), time.Now().Add(time.Hour)
	defer c.close()
	before := runtime.NumGoroutine()
	for range 100 {
		_, cancel := context.WithCancel(c)
		defer cancel()
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("100 children started %d goroutines", after-before)
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"notes.serch", "notes.search", 1}, {"ntoes", "notes", 2},
		{"kitten", "sitting", 3}, {"abcd", "wxyz", maxDistance + 1}, {"a", "abcdefgh", maxDistance + 1},
	} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("%q to %q: want %d, got %d", test.a, test.b, test.want, got)
		}
		if got := editDistance(test.b, test.a); got != test.want {
			t.Errorf("%q to %q: want %d, got %d", test.b, test.a, test.want, got)
		}
	}
}
