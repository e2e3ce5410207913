package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// crew are the processes that make the same calls at the same time.
type crew struct {
	t        *testing.T
	lives    Lives
	journal  string
	lines    chan heard
	children []*child
	living   int // processes that have not ended
}

func newCrew(t *testing.T, l Lives, journal string, size int) *crew {
	return &crew{t: t, lives: l, journal: journal, lines: make(chan heard), children: make([]*child, size)}
}

// fill starts a process in each place that has none that lives.
func (c *crew) fill() error {
	for place, old := range c.children {
		if old != nil && old.state != dead {
			continue
		}
		child, err := startChild(c.t.Context(), c.lives, c.journal, c.lines)
		if err != nil {
			return err
		}
		c.children[place] = child
		c.living++
	}
	return nil
}

// close ends the processes, and waits for those that were killed.
func (c *crew) close() {
	c.t.Helper()
	for _, child := range c.children {
		if child == nil { // it could not be started
			continue
		}
		_ = child.orders.Close() // it may have ended
		if c.t.Failed() {
			child.kill()
		}
	}
	for c.living > 0 {
		if h := <-c.lines; h.ended {
			c.living--
			if h.err != nil && h.from.state != dead {
				c.t.Errorf("a process that was not killed: %v: %s", h.err, &h.from.said)
			}
		}
	}
}

// round is one call of a crew, one of which dies.
type round struct {
	crew  *crew
	job   job
	death death
	ahead time.Duration // of the store's clock

	killed  *child
	quiet   int      // how often nobody had anything to do
	token   string   // that confirms the call
	answers []string // of those that live on
}

// run lets all make the call, until each has ended it or was killed.
func (r *round) run() error {
	for _, c := range r.crew.children {
		c.state = atWork
		c.tell(order(r.job, r.ahead))
	}
	for r.any(atWork) || r.any(prepared) || r.any(told) || r.dying() {
		h := <-r.crew.lines
		if h.ended {
			r.crew.living--
			h.from.ended = true
		}
		if h.from.state != dead {
			if err := r.hear(h); err != nil {
				return err
			}
		}
		if r.any(atWork) || r.dying() {
			continue
		}
		if err := r.release(); err != nil {
			return err
		}
	}
	if r.killed == nil {
		return errors.New("no process came there")
	}
	return errors.Join(r.gone(), r.crew.fill())
}

// gone waits until the store has ended what the dead had it do: what is done within a
// lease must not come after it.
func (r *round) gone() error {
	if r.killed == nil || r.crew.lives.Gone == nil {
		return nil
	}
	return r.crew.lives.Gone(r.crew.t.Context(), r.killed.process.Process.Pid)
}

func (r *round) any(s childState) bool {
	for _, c := range r.crew.children {
		if c.state == s {
			return true
		}
	}
	return false
}

// dying reports whether a process was killed and has not ended yet, so that it may
// still be at what it did.
func (r *round) dying() bool { return r.killed != nil && !r.killed.ended }

// hear takes what a process says: where it is, and how the call has ended.
func (r *round) hear(h heard) error {
	c := h.from
	if answer, ended := strings.CutPrefix(h.line, "ended "); ended {
		r.answers = append(r.answers, answer)
		c.state = idle
		return nil
	}
	point, ok := strings.CutPrefix(h.line, "at ")
	switch {
	case h.ended || !ok:
		return fmt.Errorf("a process that was not killed says %q: %w: %s", h.line, h.err, &c.said)
	case point == r.death.point && r.killed == nil:
		r.killed = c
		if r.death.while {
			c.tell(goOn)
			<-time.After(somewhen())
		}
		c.kill()
	case point == "running":
		c.state = told
	case strings.HasPrefix(point, "prepared "):
		r.token = strings.TrimPrefix(point, "prepared ")
		c.state = prepared
	default:
		c.tell(goOn)
	}
	return nil
}

// release lets those go on that wait, when nobody is at work: who holds a
// confirmation uses it now that all have one, as a call without one would be
// another; and whoever was told that the call is running repeats it. If it is
// still running, then by the hand of the dead, until the lease has lapsed.
func (r *round) release() error {
	waiting, say := prepared, goOn
	if !r.any(prepared) {
		waiting = told
		switch r.quiet++; {
		case !r.any(told):
			return nil
		case r.quiet == 2:
			if err := r.gone(); err != nil {
				return err
			}
			say = lapsed
			r.ahead += workLease
		case r.quiet > 2:
			return errors.New("a lease later the call is still running")
		}
	}
	for _, c := range r.crew.children {
		if say == lapsed && c.state == idle {
			continue // it is told the time with its next call
		}
		if c.state == waiting {
			c.state = atWork
			c.tell(say)
		}
	}
	return nil
}
