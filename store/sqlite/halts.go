package sqlite

import (
	"context"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
)

var _ ambit.HaltSwitch = (*Halts)(nil)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch, an [ambit.HaltSwitch] that all
// processes with this database have in common. It is safe for concurrent use.
type Halts struct{ store *Store }

// Form returns "store".
func (h *Halts) Form() string { return "store" }

// Read returns what is stopped, see [ambit.HaltSource].
func (h *Halts) Read(ctx context.Context) (halts []ambit.Halt, err error) {
	var rows []string
	err = h.store.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err = u.halts(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return encode.Halts(h.table(), rows)
}

func (h *Halts) table() string { return h.store.text("{}halt") }

// halts returns the rows of the table.
func (u *unit) halts(ctx context.Context) (halts []string, err error) {
	rows, err := u.query(ctx, "SELECT halt FROM {}halt ORDER BY halt")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var halt string
		if err := rows.Scan(&halt); err != nil {
			return nil, err
		}
		halts = append(halts, halt)
	}
	return halts, rows.Err()
}

// Halt stops these too, see [ambit.HaltSwitch].
func (h *Halts) Halt(ctx context.Context, halts ...ambit.Halt) error {
	return h.store.write(ctx, func(ctx context.Context, u *unit) error {
		for _, halt := range halts {
			if _, err := u.exec(ctx, "INSERT INTO {}halt (halt, since) VALUES (?, ?) ON CONFLICT DO NOTHING", encode.Halt(halt), encode.Time(u.now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Resume releases the whole form if that was seen, see [ambit.HaltSwitch].
func (h *Halts) Resume(ctx context.Context, seen []ambit.Halt) error {
	return h.store.write(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.halts(ctx)
		if err != nil {
			return err
		}
		stopped, _ := encode.Halts(h.table(), rows) // what is none stops everything
		if err := ambit.UnseenHalts(stopped, seen); err != nil {
			return err
		}
		_, err = u.exec(ctx, "DELETE FROM {}halt")
		return err
	})
}
