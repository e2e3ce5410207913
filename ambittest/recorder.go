package ambittest

import (
	"context"
	"slices"
	"sync"

	"github.com/ambit-dev/ambit"
)

// Recorder is an [ambit.Observer] that keeps what it sees. Every [Host] has one.
// Put one into [ambit.Options.Observers] where something freezes the application
// before [New] is given it: the host goes by that one then.
// The zero value is ready, and safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []ambit.Event
}

// Start does nothing: only a finished call is an event.
func (r *Recorder) Start(ctx context.Context, _ ambit.Event) context.Context { return ctx }

// Finish keeps the event.
func (r *Recorder) Finish(_ context.Context, e ambit.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns the events so far, in the order in which the calls ended.
func (r *Recorder) Events() []ambit.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Reset forgets the events so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}
