package memory

import (
	"context"
	"slices"

	"github.com/ambit-dev/ambit"
)

var _ ambit.HaltSwitch = (*Halts)(nil)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch, an [ambit.HaltSwitch]. It is safe
// for concurrent use.
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

// Halt stops these too, see [ambit.HaltSwitch].
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

// Resume releases the whole form if that was seen, see [ambit.HaltSwitch].
func (h *Halts) Resume(ctx context.Context, seen []ambit.Halt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	if err := ambit.UnseenHalts(h.store.halts, seen); err != nil {
		return err
	}
	h.store.halts = nil
	return nil
}
