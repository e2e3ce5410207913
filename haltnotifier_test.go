package ambit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// notifier is a halt source that tells of changes.
type notifier struct {
	readerFunc
	notify func(ctx context.Context, changed func()) error
}

func (n notifier) Notify(ctx context.Context, changed func()) error { return n.notify(ctx, changed) }

// A source that tells of a change is read at once, and listened to again when it
// could tell no more; whatever it does, it is read four times a second.
func TestT23_ChangesThatAreToldHoldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads, listened atomic.Int64
		tell := make(chan struct{})
		source := notifier{
			readerFunc(func(context.Context) ([]ambit.Halt, error) {
				reads.Add(1)
				return nil, nil
			}),
			func(ctx context.Context, changed func()) error {
				if listened.Add(1) == 2 {
					panic("out of order")
				}
				for {
					select {
					case _, open := <-tell:
						if !open {
							<-ctx.Done()
							return ctx.Err()
						}
						changed()
						return errors.New("the connection is gone")
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			},
		}
		app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{source}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { app.Watch(ctx); close(done) }()
		time.Sleep(10 * time.Millisecond)
		if got := reads.Load(); got != 1 {
			t.Fatalf("want it read once, got %d times", got)
		}
		tell <- struct{}{}
		synctest.Wait()
		if got := reads.Load(); got != 2 {
			t.Errorf("after a change was told: want it read twice, got %d times", got)
		}
		time.Sleep(ambit.HaltPoll)
		if got := reads.Load(); got != 3 {
			t.Errorf("at the next turn: want it read three times, got %d times", got)
		}
		time.Sleep(2 * time.Second) // it has panicked, and is listened to a third time
		if got := listened.Load(); got != 3 {
			t.Errorf("want it listened to three times, got %d", got)
		}
		before := reads.Load()
		tell <- struct{}{}
		synctest.Wait()
		if got := reads.Load(); got != before+1 {
			t.Errorf("after another change was told: want it read once more, got %d times", got-before)
		}
		close(tell)
		cancel()
		<-done
	})
}
