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

// slowLever is one that is thrown, and takes its time to say so: it waits for the
// server to be ready, which must not be before it was read.
type slowLever struct {
	lever
	ready chan struct{} // closed when the server is
	early atomic.Bool   // the server was ready before the first reading ended
	reads atomic.Int64
}

func (l *slowLever) Read(ctx context.Context) ([]ambit.Halt, error) {
	if l.reads.Add(1) == 1 {
		select {
		case <-l.ready:
			l.early.Store(true)
		case <-time.After(short):
		}
	}
	return l.lever.Read(ctx)
}

// A switch is read before the first call comes. One that was never read would let
// reads run.
func TestT23_SwitchesAreReadBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	l := &slowLever{ready: make(chan struct{})}
	l.thrown.Store(true)
	s := startReady(t, newApp(ambit.Options{HaltSources: []ambit.HaltSource{l}}, greet(ambit.HTTP)), serve.Options{}, func() { close(l.ready) })
	if status, body, err := s.call("/api/greet", "{}"); status != ambit.CodeHalted.HTTPStatus() || err != nil {
		t.Errorf("want it halted, got %d %s, %v", status, body, err)
	}
	if l.early.Load() {
		t.Error("want the switch read before the server is ready, and it was ready first")
	}
}

// A switch is watched for as long as a call is under way: it reaches calls that a
// server which shuts down waits for.
func TestT23_SwitchesAreWatched(t *testing.T) {
	t.Parallel()
	l := &lever{}
	started, ended := make(chan struct{}), make(chan error, 1)
	app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{l}}, waiting(started, nil, ended))
	s := start(t, app, serve.Options{Limits: serve.Limits{Grace: time.Hour}})
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
