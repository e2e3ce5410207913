package storetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// CutOff is a form of the halt switch as two instances see it that share a store,
// one of which can be cut off from it.
type CutOff struct {
	// Near and Far are the form, each on a connection of its own.
	Near, Far ambit.HaltSwitch
	// Cut cuts Far off from the store.
	Cut func()
	// Restore lets Far have the store again. Nil: it cannot be had again.
	Restore func()
}

// RunCutOff puts two instances under load and cuts one off from the store. What is
// halted stops on both as soon as they have read it; the one that cannot know any more
// runs changes until the lease of what it read last is over and no longer, and reads
// alone from then on, and obeys what was halted in the meantime when it is back. How
// often a switch is read is not asked here, and nothing depends on how fast the machine
// is. It takes a quarter of a minute.
func RunCutOff(t *testing.T, c CutOff) {
	t.Helper()
	near, far := newBusy(t, "near", c.Near), newBusy(t, "far", c.Far)
	both := []*busy{near, far}
	goOn := func() {
		t.Helper()
		for _, b := range both {
			b.goesOn(t, "write")
		}
	}
	goOn()

	halt(t, c.Near, ambit.Halt{Kind: ambit.HaltChanges})
	thrown := time.Now()
	for _, b := range both {
		b.obeys(t, "write", thrown)
		b.goesOn(t, "read")
	}
	if err := c.Near.Resume(t.Context(), []ambit.Halt{{Kind: ambit.HaltChanges}}); err != nil {
		t.Fatalf("Resume: %v", err)
	}
	goOn()

	c.Cut()
	far.lapses(t, "write")
	far.goesOn(t, "read")
	near.goesOn(t, "write")

	halt(t, c.Near, ambit.Halt{Kind: ambit.HaltCapability, Of: "read"})
	near.obeys(t, "read", time.Now())
	near.goesOn(t, "write")
	far.goesOn(t, "read") // of which it cannot know
	if c.Restore == nil {
		return
	}
	restored := time.Now()
	c.Restore()
	far.obeys(t, "read", restored)
	far.goesOn(t, "write")
}

func halt(t *testing.T, s ambit.HaltSwitch, h ambit.Halt) {
	t.Helper()
	if err := s.Halt(t.Context(), h); err != nil {
		t.Fatalf("Halt: %v", err)
	}
}

// busy is an instance that obeys a form of the switch and is called all the time.
type busy struct {
	name string

	mu       sync.Mutex
	readings []*reading        // of the switch, in their order: none begins before the last one holds
	calls    map[string][]call // by capability, as they ended
}

// reading is a time that the instance has read the switch.
type reading struct {
	began, ended time.Time // ended is zero while it goes on
	err          error
}

// good reports whether the reading has told what is stopped.
func (r *reading) good() bool { return !r.ended.IsZero() && r.err == nil }

// call is a time that a capability was called. It began before anybody asked the
// switch, and had ended when it was either run or stopped.
type call struct {
	began, ended time.Time
	stopped      bool
}

// watched is a form of the switch that notes when it is read.
type watched struct {
	ambit.HaltSwitch
	of *busy
}

func (w watched) Read(ctx context.Context) ([]ambit.Halt, error) {
	r := &reading{began: time.Now()}
	w.of.mu.Lock()
	w.of.readings = append(w.of.readings, r)
	w.of.mu.Unlock()
	halts, err := w.HaltSwitch.Read(ctx)
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	r.ended, r.err = time.Now(), err
	return halts, err
}

// telling is one that also tells of changes.
type telling struct {
	watched
	ambit.HaltNotifier
}

// Form names the switch.
func (s telling) Form() string { return s.watched.Form() }

// Read notes that it is read.
func (s telling) Read(ctx context.Context) ([]ambit.Halt, error) { return s.watched.Read(ctx) }

func newBusy(t *testing.T, name string, s ambit.HaltSwitch) *busy {
	t.Helper()
	b := &busy{name: name, calls: make(map[string][]call)}
	var source ambit.HaltSource = watched{s, b}
	if n, ok := s.(ambit.HaltNotifier); ok {
		source = telling{watched{s, b}, n}
	}
	app := ambit.New(ambit.Options{
		Name: "busy", Logger: slog.New(slog.DiscardHandler), HaltSources: []ambit.HaltSource{source},
		Limits: ambit.Limits{InFlight: ambit.Unlimited, Rate: ambit.Rate{Calls: ambit.Unlimited}},
	})
	var contracts []*ambit.Contract[ambit.Empty, ambit.Empty]
	for capability, effect := range map[string]ambit.Effect{"read": ambit.Read, "write": ambit.Write} {
		c := ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{
			Name: capability, Description: "Do it.", Effect: effect, Permission: "busy", Expose: ambit.HTTP,
		})
		app.Add(c.Bind(func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		contracts = append(contracts, c)
	}
	app.ReadHaltSources(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	t.Cleanup(func() { cancel(); working.Wait() })
	working.Go(func() { app.Watch(ctx) })
	for range 4 {
		for _, c := range contracts {
			working.Go(func() { each(ctx, 20*time.Millisecond, func() { b.call(t, ctx, app, c) }) })
		}
	}
	return b
}

// call makes a call. It may be stopped, and must not fail otherwise.
func (b *busy) call(t *testing.T, ctx context.Context, app *ambit.App, c *ambit.Contract[ambit.Empty, ambit.Empty]) {
	ctx, run := app.NewRun(ctx, ambit.RunOptions{
		Surface: ambit.HTTP, Principal: &ambit.Principal{Authority: "apikey", Subject: "robot", Permissions: []string{"busy"}},
	})
	defer run.End()
	began := time.Now()
	_, err := c.Call(ctx, ambit.Empty{})
	e, ok := errors.AsType[*ambit.Error](err)
	switch {
	case err == nil || ok && e.Code == ambit.CodeHalted:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls[c.Name()] = append(b.calls[c.Name()], call{began, time.Now(), err != nil})
	case !ok || e.Code != ambit.CodeCanceled:
		t.Errorf("%s: a call: %v", b.name, err)
	}
}

// each does something at an interval until ctx ends.
func each(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// until waits until something is so, which is asked with the lock held.
func (b *busy) until(t *testing.T, is func() bool) {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	each(ctx, 10*time.Millisecond, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if is() {
			done()
		}
	})
	if t.Context().Err() != nil {
		t.Fatal(t.Context().Err())
	}
}

// after reports whether one of the calls that began after a time was stopped, or was
// not.
func (b *busy) after(capability string, since time.Time, stopped bool) bool {
	return slices.ContainsFunc(b.calls[capability], func(c call) bool { return c.stopped == stopped && c.began.After(since) })
}

// last returns when a capability began last that was not stopped, with the lock held.
func (b *busy) last(capability string) (began time.Time) {
	for _, c := range b.calls[capability] {
		if !c.stopped && c.began.After(began) {
			began = c.began
		}
	}
	return began
}

// goesOn waits until a capability runs.
func (b *busy) goesOn(t *testing.T, capability string) {
	t.Helper()
	since := time.Now()
	b.until(t, func() bool { return b.after(capability, since, false) })
}

// obeys waits until the instance has read the switch after it was thrown, and checks
// that a capability is stopped from then on.
func (b *busy) obeys(t *testing.T, capability string, thrown time.Time) {
	t.Helper()
	var holds time.Time // since when that reading holds at the latest: another one has begun
	b.until(t, func() bool {
		for i, r := range b.readings[:max(len(b.readings)-1, 0)] {
			if r.began.After(thrown) && r.good() {
				holds = b.readings[i+1].began
				return b.after(capability, holds, true) || b.after(capability, holds, false)
			}
		}
		return false
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.after(capability, holds, false) {
		t.Errorf("%s: %s ran after it was read that it is stopped", b.name, capability)
	}
	t.Logf("%s: %s began last %s after the halt", b.name, capability, max(b.last(capability).Sub(thrown), 0))
}

// lapses waits until a capability is stopped because nobody knows any more whether it
// is, and checks that this was when the lease was over of what was read last, and not
// before.
func (b *busy) lapses(t *testing.T, capability string) {
	t.Helper()
	b.until(t, func() bool {
		last := -1 // the last good reading
		for i, r := range b.readings {
			if r.good() {
				last = i
			}
		}
		if last < 1 || last == len(b.readings)-1 {
			return false // it may not hold yet
		}
		// The lease begins at some time between these two.
		earliest, latest := b.readings[last-1].ended.Add(ambit.HaltLease), b.readings[last].began.Add(ambit.HaltLease)
		if !b.after(capability, b.readings[last+1].began, true) && !b.after(capability, latest, false) {
			return false
		}
		for _, c := range b.calls[capability] {
			switch {
			case c.stopped && c.began.After(b.readings[last+1].began) && c.ended.Before(earliest):
				t.Errorf("%s: %s was stopped %s before the lease was over", b.name, capability, earliest.Sub(c.ended))
			case !c.stopped && c.began.After(latest):
				t.Errorf("%s: %s ran %s after the lease was over", b.name, capability, c.began.Sub(latest))
			}
		}
		t.Logf("%s: %s began last %s after the last reading", b.name, capability, b.last(capability).Sub(b.readings[last].ended))
		return true
	})
}
