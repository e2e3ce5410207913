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
// halted stops on both within a second; the one that cannot know any more runs reads
// alone as soon as its lease is over, to the second, and obeys what was halted in the
// meantime when it is back. It takes half a minute.
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

	thrown := time.Now()
	halt(t, c.Near, ambit.Halt{Kind: ambit.HaltChanges})
	for _, b := range both {
		b.stopped(t, "write", thrown, -time.Minute, time.Second)
		b.goesOn(t, "read")
	}
	if err := c.Near.Resume(t.Context(), []ambit.Halt{{Kind: ambit.HaltChanges}}); err != nil {
		t.Fatalf("Resume: %v", err)
	}
	goOn()

	cut := time.Now()
	c.Cut()
	far.stopped(t, "write", cut, ambit.HaltLease-time.Second, ambit.HaltLease+time.Second)
	far.goesOn(t, "read")
	near.goesOn(t, "write")

	thrown = time.Now()
	halt(t, c.Near, ambit.Halt{Kind: ambit.HaltCapability, Of: "read"})
	near.stopped(t, "read", thrown, -time.Minute, time.Second)
	near.goesOn(t, "write")
	far.goesOn(t, "read") // of which it cannot know
	if c.Restore == nil {
		return
	}
	c.Restore()
	far.goesOn(t, "write")
	far.stopped(t, "read", far.last("write"), -time.Minute, time.Second)
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

	mu    sync.Mutex
	began map[string]time.Time // when a capability began last
}

func newBusy(t *testing.T, name string, s ambit.HaltSwitch) *busy {
	t.Helper()
	b := &busy{name: name, began: make(map[string]time.Time)}
	app := ambit.New(ambit.Options{
		Name: "busy", Logger: slog.New(slog.DiscardHandler), HaltSources: []ambit.HaltSource{s},
		Limits: ambit.Limits{InFlight: ambit.Unlimited, Rate: ambit.Rate{Calls: ambit.Unlimited}},
	})
	var calls []*ambit.Contract[ambit.Empty, ambit.Empty]
	for capability, effect := range map[string]ambit.Effect{"read": ambit.Read, "write": ambit.Write} {
		c := ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{
			Name: capability, Description: "Do it.", Effect: effect, Permission: "busy", Expose: ambit.HTTP,
		})
		app.Add(c.Bind(func(context.Context, ambit.Empty) (ambit.Empty, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.began[capability] = time.Now()
			return ambit.Empty{}, nil
		}))
		calls = append(calls, c)
	}
	app.ReadHaltSources(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	t.Cleanup(func() { cancel(); working.Wait() })
	working.Go(func() { app.Watch(ctx) })
	for range 4 {
		for _, c := range calls {
			working.Go(func() { each(ctx, 5*time.Millisecond, func() { b.call(t, ctx, app, c) }) })
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
	_, err := c.Call(ctx, ambit.Empty{})
	e, ok := errors.AsType[*ambit.Error](err)
	if err != nil && (!ok || !slices.Contains([]ambit.Code{ambit.CodeHalted, ambit.CodeCanceled}, e.Code)) {
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

// last returns when a capability began last.
func (b *busy) last(capability string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.began[capability]
}

// until waits until something is so.
func (b *busy) until(t *testing.T, is func() bool) {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	each(ctx, 10*time.Millisecond, func() {
		if is() {
			done()
		}
	})
	if t.Context().Err() != nil {
		t.Fatal(t.Context().Err())
	}
}

// goesOn waits until a capability runs.
func (b *busy) goesOn(t *testing.T, capability string) {
	t.Helper()
	before := time.Now()
	b.until(t, func() bool { return b.last(capability).After(before) })
}

// stopped waits until a second after the latest time at which a capability may have
// begun last, and checks that it was not earlier than the least.
func (b *busy) stopped(t *testing.T, capability string, since time.Time, least, most time.Duration) {
	t.Helper()
	b.until(t, func() bool { return time.Since(since) > most+time.Second })
	if after := b.last(capability).Sub(since); after < least || after > most {
		t.Errorf("%s: %s began last after %s, want that from %s to %s", b.name, capability, after, least, most)
	}
}
