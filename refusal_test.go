package ambit_test

import (
	"context"
	"testing"

	"github.com/ambit-dev/ambit"
)

func busy() error { return ambit.Errorf(ambit.CodeRateLimited, "Busy.") }

// within makes a call within the call of ctx, and then refuses.
func within(ctx context.Context, name, key string) error {
	_, _ = ambit.RunFromContext(ctx).Invoke(ctx, ambit.Request{Name: name, IdempotencyKey: key})
	return busy()
}

// refusing returns an application whose capability "change" does what handle
// does, with "read", "write" and "refuse" to call within it.
func refusing(handle func(context.Context) error, wrap func(context.Context, ambit.Next) (any, error)) *ambit.App {
	change := ambit.Define(writeSpec("change"), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, handle(ctx)
	})
	if wrap != nil {
		change = change.WithMiddleware(ambit.Middleware{Name: "test", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			return wrap(ctx, next)
		}})
	}
	read := writeSpec("read")
	read.Effect = ambit.Read
	done := func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }
	return newApp(ambit.Options{Ledger: memory()}, change, ambit.Define(read, done), ambit.Define(writeSpec("write"), done),
		ambit.Define(writeSpec("refuse"), func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, busy() }))
}

// A refusal vouches by its code alone that nothing happened, and gives its key
// back, only where nothing can have happened: not once the handler has begun and
// somebody else refuses, nor once a call within has had an effect.
func TestT17_WhatARefusalVouchesFor(t *testing.T) {
	t.Parallel()
	succeed := func(context.Context) error { return nil }
	refuse := func(context.Context) error { return busy() }
	for _, test := range []struct {
		name   string
		handle func(context.Context) error
		wrap   func(context.Context, ambit.Next) (any, error) // nil: no middleware
		want   ambit.Executed
		runs   int // of the handler, for two calls under one key
	}{
		{"the handler", refuse, nil, ambit.ExecutedNo, 2},
		{"the handler, through middleware", refuse, func(ctx context.Context, next ambit.Next) (any, error) { return next(ctx) }, ambit.ExecutedNo, 2},
		{"middleware in place of the handler", succeed, func(context.Context, ambit.Next) (any, error) { return nil, busy() }, ambit.ExecutedNo, 0},
		{"middleware after the handler succeeded", succeed, func(ctx context.Context, next ambit.Next) (any, error) {
			_, _ = next(ctx)
			return nil, busy()
		}, ambit.ExecutedUnknown, 1},
		{"after a read within", func(ctx context.Context) error { return within(ctx, "read", "") }, nil, ambit.ExecutedNo, 2},
		{"after a write within", func(ctx context.Context) error { return within(ctx, "write", "") }, nil, ambit.ExecutedUnknown, 1},
		{"after a write within that has a key", func(ctx context.Context) error { return within(ctx, "write", "inner") }, nil, ambit.ExecutedNo, 2},
		{"after a write within that refused", func(ctx context.Context) error { return within(ctx, "refuse", "") }, nil, ambit.ExecutedNo, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			app := refusing(func(ctx context.Context) error { runs++; return test.handle(ctx) }, test.wrap)
			ctx, run := begin(t, app, writer, ambit.HTTP)
			for range 2 {
				_, err := run.Invoke(ctx, ambit.Request{Name: "change", IdempotencyKey: "k"})
				if got := failure(t, err); got.Code != ambit.CodeRateLimited || got.Executed != test.want {
					t.Errorf("want rate_limited with executed %q, got %s with %q", test.want, got.Code, got.Executed)
				}
			}
			if runs != test.runs {
				t.Errorf("want %d runs under one key, got %d", test.runs, runs)
			}
		})
	}
}

// Middleware that leaves its handler behind cannot know what that will do.
func TestT17_RefusedWhileTheHandlerRuns(t *testing.T) {
	t.Parallel()
	started, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	app := refusing(func(context.Context) error {
		close(started) // a second run would close it again
		<-release
		return nil
	}, func(ctx context.Context, next ambit.Next) (any, error) {
		go func() {
			defer close(ended)
			_, _ = next(ctx)
		}()
		<-started
		return nil, busy()
	})
	ctx, run := begin(t, app, writer, ambit.HTTP)
	for range 2 {
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", IdempotencyKey: "k"})
		if got := failure(t, err); got.Code != ambit.CodeRateLimited || got.Executed != ambit.ExecutedUnknown {
			t.Errorf("want rate_limited with executed unknown, got %s with %q", got.Code, got.Executed)
		}
	}
	close(release)
	<-ended
}
