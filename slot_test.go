package ambit_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// works is an application whose handler works until it is told to finish.
type works struct {
	app     *ambit.App
	seen    *records
	release chan struct{}
	ended   chan error
	ctx     context.Context
	end     func()
}

// newWorks must be called within the bubble of a synctest.
func newWorks(o ambit.Options, own ambit.Rate) *works {
	w := &works{seen: &records{}, release: make(chan struct{}), ended: make(chan error)}
	w.ctx, w.end = context.WithCancel(context.Background())
	spec := echoSpec()
	spec.Rate = own
	o.Observers = append(o.Observers, w.seen)
	w.app = newApp(o, ambit.Define(spec, func(ctx context.Context, in echoInput) (echoOutput, error) {
		select {
		case <-w.release:
			return echo(ctx, in)
		case <-ctx.Done():
			return echoOutput{}, ctx.Err()
		}
	}))
	return w
}

// call makes one call in a run of its own.
func (w *works) call(t testing.TB, p *ambit.Principal, input string) error {
	t.Helper()
	ctx, run := w.app.NewRun(w.ctx, ambit.RunOptions{Principal: p, Surface: ambit.HTTP})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(input)})
	return err
}

// begin starts a call and returns once its handler is at work.
func (w *works) begin(t testing.TB, p *ambit.Principal, input string) {
	t.Helper()
	go func() { w.ended <- w.call(t, p, input) }()
	synctest.Wait()
}

// finish lets one call end well.
func (w *works) finish(t testing.TB) {
	t.Helper()
	w.release <- struct{}{}
	if err := <-w.ended; err != nil {
		t.Fatal(err)
	}
}

func TestT25_InFlight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		limit int
		most  int
	}{
		{"default", 0, ambit.DefaultInFlight},
		{"three", 3, 3},
		{"any number", ambit.Unlimited, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorks(ambit.Options{Limits: ambit.Limits{InFlight: test.limit}}, ambit.Rate{})
				defer w.end()
				for range test.most {
					w.begin(t, alice, `{"text":"a"}`)
				}
				if test.limit != ambit.Unlimited {
					if err := w.call(t, alice, `{"text":"a"}`); ambit.CodeOf(err) != ambit.CodeRateLimited || w.seen.last(t).Limit != ambit.LimitInFlight {
						t.Errorf("one more: want it refused by the limit, got %v", err)
					}
					w.begin(t, bob, `{"text":"a"}`) // who is somebody else
					w.finish(t)
				}
				w.finish(t)
				w.begin(t, alice, `{"text":"a"}`)
				for range test.most {
					w.finish(t)
				}
				largest := 0
				for _, e := range w.seen.finished {
					largest = max(largest, e.InFlight)
				}
				if largest != test.most {
					t.Errorf("most calls at work, by the events: want %d, got %d", test.most, largest)
				}
				assertIdle(t, w.app)
			})
		})
	}
}

func TestT25_InputBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorks(ambit.Options{Limits: ambit.Limits{InputBytes: 100}}, ambit.Rate{})
		defer w.end()
		of := func(bytes int) string { return `{"text":"a"}` + strings.Repeat(" ", bytes-12) }
		w.begin(t, alice, of(60))
		if err := w.call(t, bob, of(41)); ambit.CodeOf(err) != ambit.CodeRateLimited || w.seen.last(t).Limit != ambit.LimitInputBytes {
			t.Errorf("too much together: want it refused by the limit, got %v", err)
		}
		w.begin(t, bob, of(40))
		w.finish(t)
		w.finish(t)
		w.begin(t, alice, of(101)) // more than ever fits, and alone
		if err := w.call(t, bob, of(12)); ambit.CodeOf(err) != ambit.CodeRateLimited {
			t.Errorf("beside one that takes everything: want rate_limited, got %v", err)
		}
		w.finish(t)
		assertIdle(t, w.app)
	})
}

// A slot is given back however a call ends.
func TestT25_SlotIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(context.Context) error{
		"error":  func(context.Context) error { return ambit.Errorf(ambit.CodeConflict, "No.") },
		"panic":  func(context.Context) error { panic("no") },
		"ends":   func(ctx context.Context) error { ambit.RunFromContext(ctx).End(); return nil },
		"nested": func(context.Context) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := nest(ambit.Options{Limits: ambit.Limits{InFlight: 1}}, ambit.Write, ambit.Read, func(ctx context.Context, inner *ambit.Contract[echoInput, echoOutput]) error {
				_, err := inner.Call(ctx, echoInput{Text: "a"}) // rides on the slot
				if err != nil {
					t.Error(err)
				}
				return handle(ctx)
			})
			for range 3 {
				if e := attempt(t, app, alice, ambit.HTTP, "outer"); e != nil && e.Code == ambit.CodeRateLimited {
					t.Fatalf("the slot is still held: %v", e)
				}
			}
			assertIdle(t, app)
		})
	}
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		app := newApp(ambit.Options{Limits: ambit.Limits{InFlight: 1}}, ambit.Define(echoSpec(), echo))
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Budget: ambit.Budget{Calls: 1}})
		defer run.End()
		for _, want := range []ambit.Code{"", ambit.CodeBudgetExhausted, ambit.CodeBudgetExhausted} {
			if _, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)}); ambit.CodeOf(err) != want {
				t.Errorf("want %q, got %v", want, err)
			}
		}
		assertIdle(t, app)
	})
}

// crowd is a prompter that lets everyone wait.
type crowd struct {
	waiting atomic.Int32
	answer  chan ambit.Answer
}

func (c *crowd) Ask(ctx context.Context, _ ambit.Question) (ambit.Answer, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	select {
	case a := <-c.answer:
		return a, nil
	case <-ctx.Done():
		return ambit.Deny, ctx.Err()
	}
}

// transactions is middleware that keeps one open around each handler.
type transactions struct{ open, begun atomic.Int32 }

func (x *transactions) middleware() ambit.Middleware {
	return ambit.Middleware{Name: "transaction", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
		x.begun.Add(1)
		x.open.Add(1)
		defer x.open.Add(-1)
		return next(ctx)
	}}
}

// A thousand calls that wait for a person hold no slot, no byte and no
// transaction, and others are answered meanwhile.
func TestT25_WaitingHoldsNothing(t *testing.T) {
	t.Parallel()
	const crowded = 1000
	synctest.Test(t, func(t *testing.T) {
		people, tx, seen := &crowd{answer: make(chan ambit.Answer)}, &transactions{}, &records{}
		write := echoSpec()
		write.Name, write.Effect = "change", ambit.Write
		app := newApp(ambit.Options{
			Limits:     ambit.Limits{Rate: ambit.Rate{Calls: 2 * crowded, Per: time.Second}},
			Middleware: []ambit.Middleware{tx.middleware()}, Observers: []ambit.Observer{seen},
		}, ambit.Define(echoSpec(), echo), ambit.Define(write, echo))
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP, Mode: ambit.ModeDefault, Prompter: people})
		defer run.End()
		call := func(name string) error {
			_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`)})
			return err
		}
		ended := make(chan error, crowded)
		for range crowded {
			go func() { ended <- call("change") }()
		}
		synctest.Wait()
		if got := people.waiting.Load(); got != crowded {
			t.Fatalf("want %d calls that wait, got %d", crowded, got)
		}
		if got := tx.begun.Load(); got != 0 {
			t.Errorf("%d transactions were begun for calls that wait", got)
		}
		assertIdle(t, app)
		for range 100 {
			if err := call("echo"); err != nil {
				t.Fatalf("a read beside calls that wait: %v", err)
			}
			if got := seen.last(t).InFlight; got != 1 {
				t.Fatalf("want the read alone at work, got %d calls", got)
			}
		}
		// Those that get their answer are at work like any other.
		for range crowded {
			people.answer <- ambit.Allow
			synctest.Wait()
		}
		for range crowded {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		if begun, open := tx.begun.Load(), tx.open.Load(); begun != crowded+100 || open != 0 {
			t.Errorf("want %d transactions and none open, got %d and %d", crowded+100, begun, open)
		}
		assertIdle(t, app)
	})
}

// A call whose handler waits for a person, because of a call that it makes,
// gives its slot back meanwhile and takes it again afterwards, free or not.
func TestT25_NestedWaitGivesTheSlotBack(t *testing.T) {
	t.Parallel()
	const crowded = 5
	synctest.Test(t, func(t *testing.T) {
		people := &crowd{answer: make(chan ambit.Answer)}
		hold, answered := make(chan struct{}), &atomic.Int32{}
		app := nest(ambit.Options{Limits: ambit.Limits{InFlight: 1}}, ambit.Write, ambit.Write, func(ctx context.Context, inner *ambit.Contract[echoInput, echoOutput]) error {
			var both sync.WaitGroup // two questions at once
			for range 2 {
				both.Go(func() {
					_, err := inner.Call(ctx, echoInput{Text: "a"}, ambit.WithMode(ambit.ModeDefault))
					if err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			answered.Add(1)
			<-hold
			return nil
		})
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP, Prompter: people})
		defer run.End()
		request := ambit.Request{Name: "outer", Input: []byte(`{} `)}
		ended := make(chan error, crowded)
		for range crowded {
			go func() { _, err := run.Invoke(ctx, request); ended <- err }()
			synctest.Wait()
		}
		if got := people.waiting.Load(); got != 2*crowded {
			t.Fatalf("want %d questions, got %d", 2*crowded, got)
		}
		assertIdle(t, app)
		for range 2 * crowded {
			people.answer <- ambit.Allow
			synctest.Wait()
		}
		if got := answered.Load(); got != crowded {
			t.Fatalf("want all %d handlers to go on, got %d", crowded, got)
		}
		if calls, bytes := ambit.AtWork(app); calls != crowded || bytes != crowded*3 {
			t.Errorf("want %d calls and %d bytes at work, got %d and %d", crowded, crowded*3, calls, bytes)
		}
		if _, err := run.Invoke(ctx, request); ambit.CodeOf(err) != ambit.CodeRateLimited {
			t.Errorf("a new call beside them: want rate_limited, got %v", err)
		}
		close(hold)
		for range crowded {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		assertIdle(t, app)
	})
}

// A question that outlives the call that it was asked in takes no slot, and one
// that the rule over the input began keeps it back.
func TestT25_SlotAndStrayQuestions(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"rule", "handler"} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				people := &crowd{answer: make(chan ambit.Answer)}
				spec := echoSpec()
				spec.Approval = ambit.Confirm
				inner := ambit.NewContract[echoInput, echoOutput](spec)
				var strays sync.WaitGroup
				stray := func(ctx context.Context) {
					strays.Go(func() {
						_, _ = inner.Call(context.WithoutCancel(ctx), echoInput{Text: "a"})
					})
					synctest.Wait()
				}
				spec.Name, spec.Approval = "outer", 0
				app := newApp(ambit.Options{}, inner.Bind(echo), ambit.Define(spec, func(ctx context.Context, in echoInput) (echoOutput, error) {
					if during == "handler" {
						stray(ctx)
					}
					return echo(ctx, in)
				}).WithAuthorizeInput(func(ctx context.Context, _ echoInput) error {
					if during == "rule" {
						stray(ctx)
					}
					return nil
				}))
				ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP, Prompter: people})
				defer run.End()
				if _, err := run.Invoke(ctx, ambit.Request{Name: "outer", Input: []byte(`{"text":"a"}`)}); err != nil {
					t.Fatal(err)
				}
				if got := people.waiting.Load(); got != 1 {
					t.Fatalf("want a question that waits, got %d", got)
				}
				people.answer <- ambit.Deny
				strays.Wait()
				assertIdle(t, app)
			})
		})
	}
}

// What is kept of principals is forgotten when they have gone idle.
func TestT25_IdleCallersAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		app := ratedApp(ambit.Options{}, ambit.Rate{Calls: 1, Per: time.Second, Burst: 1})
		largest, callers := 0, 100_000
		if raceEnabled {
			callers = 10_000 // it is slow, and there is no race to find here
		}
		for i := range callers {
			p := &ambit.Principal{Authority: "test", Subject: strconv.Itoa(i), Permissions: alice.Permissions, Unscoped: true}
			if e := attempt(t, app, p, ambit.HTTP, "echo"); e != nil {
				t.Fatal(e)
			}
			if i%100 == 0 {
				largest = max(largest, ambit.Remembered(app))
				<-time.After(100 * time.Millisecond)
			}
		}
		// A thousand callers have less than a full bucket at any time.
		if largest > 4000 {
			t.Errorf("want some thousand callers remembered at most, got %d", largest)
		}
		<-time.After(time.Minute)
		// Any traffic, of whomever: of so many that some come to each part of what is
		// remembered, over which chance spreads them.
		const last = 2000
		for i := range last {
			p := &ambit.Principal{Authority: "test", Subject: strconv.Itoa(i), Permissions: alice.Permissions, Unscoped: true}
			_ = attempt(t, app, p, ambit.HTTP, "echo")
		}
		if got := ambit.Remembered(app); got > last {
			t.Errorf("want at most the %d last callers remembered, got %d", last, got)
		}
	})
}

// assertIdle fails where something is counted still though no call is at work.
func assertIdle(t testing.TB, app *ambit.App) {
	t.Helper()
	if calls, bytes := ambit.AtWork(app); calls != 0 || bytes != 0 {
		t.Errorf("nothing is at work: want no calls and no bytes counted, got %d and %d", calls, bytes)
	}
}
