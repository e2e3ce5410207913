package sqlite

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch: an [ambit.HaltSource] that all
// processes with this database have in common, and how it is thrown and released.
// It is safe for concurrent use.
type Halts struct{ store *Store }

// Form returns "store".
func (h *Halts) Form() string { return "store" }

// Read returns what is stopped, see [ambit.HaltSource].
func (h *Halts) Read(ctx context.Context) (halts []ambit.Halt, err error) {
	var misread ambit.MisreadHalts
	err = h.store.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, "SELECT halt FROM {}halt ORDER BY halt")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			halt, err := ambit.ParseHalt(text)
			if err != nil {
				misread.Faults = append(misread.Faults, fmt.Errorf("table %shalt: %w", u.options.Prefix, err))
				continue
			}
			halts = append(halts, halt)
		}
		return rows.Err()
	})
	if err == nil && len(misread.Faults) > 0 {
		err = &misread
	}
	return halts, err
}

// Halt stops these too. One that is none, such as Halt{}, stops everything.
func (h *Halts) Halt(ctx context.Context, halts ...ambit.Halt) error {
	return h.store.write(ctx, func(ctx context.Context, u *unit) error {
		for _, halt := range halts {
			if _, err := ambit.ParseHalt(halt.String()); err != nil {
				halt = ambit.Halt{Kind: ambit.HaltAll}
			}
			if _, err := u.exec(ctx, "INSERT INTO {}halt (halt, since) VALUES (?, ?) ON CONFLICT DO NOTHING", halt.String(), encode.Time(u.now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Resume releases the whole form. Whoever may call it decides for everybody:
// keep it out of reach of capabilities and agents.
func (h *Halts) Resume(ctx context.Context) error {
	return h.store.write(ctx, func(ctx context.Context, u *unit) error {
		_, err := u.exec(ctx, "DELETE FROM {}halt")
		return err
	})
}
