package serve_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
)

// lever is a halt source that stops everything once it is thrown.
type lever struct{ thrown atomic.Bool }

func (*lever) Form() string { return "lever" }

func (l *lever) Read(context.Context) ([]ambit.Halt, error) {
	if l.thrown.Load() {
		return []ambit.Halt{{Kind: ambit.HaltAll}}, nil
	}
	return nil, nil
}

// A switch is read before the first call comes, and for as long as one is under
// way: it reaches calls that a server which shuts down waits for.
func TestT23_SwitchesAreWatched(t *testing.T) {
	t.Parallel()
	l := &lever{}
	started, ended := make(chan struct{}), make(chan error, 1)
	change := ambit.Define(ambit.Spec{
		Name: "change", Description: "Change something.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP,
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil })
	app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{l}}, change, waiting(started, nil, ended))
	s := start(t, app, serve.Options{Limits: serve.Limits{Grace: time.Hour}})
	if status, body, err := s.call("/api/change", "{}"); status != 200 || err != nil {
		t.Errorf("the first call: want 200, got %d %s, %v", status, body, err)
	}
	answered := make(chan int, 1)
	go func() {
		status, _, _ := s.call("/api/wait", "{}")
		answered <- status
	}()
	<-started
	s.stop()
	l.thrown.Store(true)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call under way: want it canceled, got %v", err)
	}
	if want, got := ambit.CodeCanceled.HTTPStatus(), <-answered; want != got {
		t.Errorf("answer to the call under way: want %d, got %d", want, got)
	}
	if err := s.shutDown(); err != nil {
		t.Errorf("shutdown: want nil, got %v", err)
	}
}
