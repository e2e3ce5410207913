package memory

import (
	"context"
	"slices"

	"github.com/ambit-dev/ambit"
)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch: an [ambit.HaltSource], and how
// it is thrown and released. It is safe for concurrent use.
type Halts struct{ store *Store }

// Form returns "store".
func (h *Halts) Form() string { return "store" }

// Read returns what is stopped, see [ambit.HaltSource].
func (h *Halts) Read(ctx context.Context) ([]ambit.Halt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	return slices.Clone(h.store.halts), nil
}

// Halt stops these too. One that is none, such as Halt{}, stops everything.
func (h *Halts) Halt(ctx context.Context, halts ...ambit.Halt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	for _, halt := range halts {
		if _, err := ambit.ParseHalt(halt.String()); err != nil {
			halt = ambit.Halt{Kind: ambit.HaltAll}
		}
		if !slices.Contains(h.store.halts, halt) {
			h.store.halts = append(h.store.halts, halt)
		}
	}
	return nil
}

// Resume releases the whole form. Whoever may call it decides for everybody:
// keep it out of reach of capabilities and agents.
func (h *Halts) Resume(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	h.store.halts = nil
	return nil
}
