package apikey

import (
	"context"
	"errors"
	"sync/atomic"
)

const (
	// maxStrangers is how many keys that nobody knows the store is asked about
	// at the same time. Keys that are known are asked about beside them, so that
	// they have to find room in the store: pools of connections are small.
	maxStrangers = 4
	// maxWaiting is how many more may wait for that.
	maxWaiting = 1 << 10
)

var errBusy = errors.New("too many keys that are not known are being asked about")

// line is where requests wait whose keys nobody knows: anybody can make such keys
// up, as many as they like. It is safe for concurrent use.
type line struct {
	places  chan struct{} // as many as are taken
	waiting atomic.Int64
}

func newLine() *line { return &line{places: make(chan struct{}, maxStrangers)} }

// enter waits for a place, which leave gives back, for as long as the store might
// take to answer. It is an error where the line is full and where ctx ends first:
// nobody is asked about who has gone.
func (l *line) enter(ctx context.Context) error {
	select {
	case l.places <- struct{}{}:
		return nil
	default:
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting {
		return errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	select {
	case l.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *line) leave() { <-l.places }
