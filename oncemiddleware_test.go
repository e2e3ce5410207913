package ambit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

func TestT17_MiddlewareStartsTheHandlerOnce(t *testing.T) {
	t.Parallel()
	c := &counted{}
	late := make(chan ambit.Next, 1)
	app := newApp(ambit.Options{Ledger: memory(), Middleware: []ambit.Middleware{{Name: "twice", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
		late <- next
		var all sync.WaitGroup
		all.Go(func() { _, _ = next(ctx) })
		all.Go(func() { _, _ = next(ctx) })
		all.Wait()
		_, _ = next(ctx)
		return echoOutput{Text: "made up"}, nil
	}}}}, ambit.Define(writeSpec("change"), c.run))
	for _, want := range []string{`{"text":"made up"}`, `{"text":"made up"} replayed`} {
		if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
	if _, err := (<-late)(t.Context()); err == nil || c.runs.Load() != 1 {
		t.Errorf("want an error of the late call and one run, got %v and %d", err, c.runs.Load())
	}
}

// TestT17_GivenUpNeverStarts holds that once an outer middleware has given up, and
// the key is free again, an inner one cannot start the handler any more.
func TestT17_GivenUpNeverStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counted{}
		var late sync.WaitGroup
		slow := atomic.Bool{}
		slow.Store(true)
		app := newApp(ambit.Options{Ledger: memory(), Middleware: []ambit.Middleware{
			{Name: "timeout", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (out any, err error) {
				done := make(chan struct{})
				late.Go(func() { defer close(done); out, err = next(ctx) })
				select {
				case <-done:
					return out, err
				case <-time.After(time.Second):
					return nil, ambit.Errorf(ambit.CodeRateLimited, "Busy.")
				}
			}},
			{Name: "connection", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
				if slow.Load() {
					<-time.After(time.Minute)
				}
				return next(ctx)
			}},
		}}, ambit.Define(writeSpec("change"), c.run))
		for range 3 {
			ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Mode: ambit.ModeAuto})
			_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
			e, ok := errors.AsType[*ambit.Error](err)
			if !ok || e.Code != ambit.CodeRateLimited || e.Executed != ambit.ExecutedNo {
				t.Errorf("want rate_limited and not executed, got %v", err)
			}
			late.Wait()
			run.End()
		}
		if got := c.runs.Load(); got != 0 {
			t.Errorf("want no runs after it was said that there was none, got %d", got)
		}
		slow.Store(false)
		if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); c.runs.Load() != 1 {
			t.Errorf("want one run in the end, got %d and %s", c.runs.Load(), got)
		}
	})
}
