package ambit

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// notifyAgain is how long [App.Watch] waits before it listens again to a source
// that has stopped telling.
const notifyAgain = time.Second

// HaltNotifier is a [HaltSource] that can tell when what it stops may have
// changed. It is read then, beside the readings four times a second, which go on.
type HaltNotifier interface {
	HaltSource
	// Notify calls changed for each change, until ctx ends or it can tell no more.
	// It is called again a second after it returned, and never twice at a time.
	Notify(ctx context.Context, changed func()) error
}

// listen wakes whoever reads a source when it may have changed, until ctx ends.
// That it cannot tell makes no trouble: the source is read all the same.
func listen(ctx context.Context, n HaltNotifier, wake chan<- struct{}) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		_ = notify(ctx, n, func() {
			select {
			case wake <- struct{}{}:
			default: // it is to be read already
			}
		})
		pause.Reset(notifyAgain)
	}
}

// notify calls the application's code.
func notify(ctx context.Context, n HaltNotifier, changed func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return n.Notify(ctx, changed)
}
