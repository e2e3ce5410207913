package interop_test

import (
	"maps"
	"slices"
	"sync"
)

// follower gathers the progress that a Go client is told of, and acknowledges
// every step. The clients call it from goroutines of their own.
type follower struct {
	calls []call

	mu    sync.Mutex
	steps map[string][]float64 // by the call's name, which is its token
	acks  sync.WaitGroup
}

// saw notes a step of the call whose name is the token, and makes the call that
// acknowledges it without holding up the client.
func (f *follower) saw(token any, step float64, acknowledge func(call)) {
	i := slices.IndexFunc(f.calls, func(c call) bool { return c.Name == token })
	if i < 0 {
		return
	}
	of := f.calls[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.steps == nil {
		f.steps = map[string][]float64{}
	}
	f.steps[of.Name] = append(f.steps[of.Name], step)
	arguments := maps.Clone(of.Arguments)
	arguments["step"] = step
	f.acks.Go(func() { acknowledge(call{Name: of.Acknowledge, Arguments: arguments}) })
}

// finish waits for the acknowledgments and fills in what was seen.
func (f *follower) finish(outcomes []outcome) {
	f.acks.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range f.calls {
		outcomes[i].Progress = f.steps[c.Name]
	}
}
