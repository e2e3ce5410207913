package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
)

var _ ambit.HaltNotifier = (*Halts)(nil)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch: an [ambit.HaltSource] that all
// instances with this database have in common, and how it is thrown and released.
// It is safe for concurrent use.
type Halts struct{ store *Store }

// Form returns "store".
func (h *Halts) Form() string { return "store" }

// Read returns what is stopped, see [ambit.HaltSource].
func (h *Halts) Read(ctx context.Context) (halts []ambit.Halt, err error) {
	rows, err := h.store.pool.Query(ctx, h.store.text("SELECT halt FROM {}halt ORDER BY halt"))
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	var misread ambit.MisreadHalts
	for _, line := range lines {
		halt, err := ambit.ParseHalt(line)
		if err != nil {
			misread.Faults = append(misread.Faults, fmt.Errorf("table %shalt: %w", h.store.options.Prefix, err))
			continue
		}
		halts = append(halts, halt)
	}
	if len(misread.Faults) > 0 {
		return halts, &misread
	}
	return halts, nil
}

// Notify calls changed whenever an instance has changed what is stopped, so that
// nobody has to wait for the next reading, see [ambit.HaltNotifier]. It keeps a
// connection of its own, beside the pool's, for as long as it waits.
func (h *Halts) Notify(ctx context.Context, changed func()) error {
	connection, err := pgx.ConnectConfig(ctx, h.store.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = connection.Close(ending)
	}()
	if _, err := connection.Exec(ctx, "LISTEN "+h.channel().Sanitize()); err != nil {
		return err
	}
	changed() // what happened before is not told
	for {
		if _, err := connection.WaitForNotification(ctx); err != nil {
			return err
		}
		changed()
	}
}

// channel is what changes are told on.
func (h *Halts) channel() pgx.Identifier {
	return pgx.Identifier{h.store.options.Schema + "." + h.store.options.Prefix + "halt"}
}

// Halt stops these too. One that is none, such as Halt{}, stops everything.
func (h *Halts) Halt(ctx context.Context, halts ...ambit.Halt) error {
	return h.change(ctx, func(u *unit) {
		for _, halt := range halts {
			if _, err := ambit.ParseHalt(halt.String()); err != nil {
				halt = ambit.Halt{Kind: ambit.HaltAll}
			}
			u.queue("INSERT INTO {}halt (halt, since) VALUES ($2, {now}) ON CONFLICT DO NOTHING", u.ahead.Load(), halt.String())
		}
	})
}

// Resume releases the whole form. Whoever may call it decides for everybody:
// keep it out of reach of capabilities and agents.
func (h *Halts) Resume(ctx context.Context) error {
	return h.change(ctx, func(u *unit) { u.queue("DELETE FROM {}halt") })
}

// change tells the other instances what it has done.
func (h *Halts) change(ctx context.Context, do func(*unit)) error {
	u := &unit{Store: h.store}
	do(u)
	u.queue("SELECT pg_notify($1, '')", h.channel()[0])
	return endedOr(ctx, h.store.pool.SendBatch(ctx, &u.Batch).Close())
}
