package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
)

var (
	_ ambit.HaltSwitch   = (*Halts)(nil)
	_ ambit.HaltNotifier = (*Halts)(nil)
)

// Halts returns the part of the store that is a form of the halt switch.
func (s *Store) Halts() *Halts { return &Halts{s} }

// Halts is the form "store" of the halt switch, an [ambit.HaltSwitch] that all
// instances with this database have in common. It is safe for concurrent use.
type Halts struct{ store *Store }

// Form returns "store".
func (h *Halts) Form() string { return "store" }

// Read returns what is stopped, see [ambit.HaltSource].
func (h *Halts) Read(ctx context.Context) (halts []ambit.Halt, err error) {
	var rows []string
	if err := h.store.look(ctx, func(u *unit) { u.halts(&rows) }); err != nil {
		return nil, err
	}
	return encode.Halts(h.table(), rows)
}

func (h *Halts) table() string { return h.store.options.Prefix + "halt" }

// halts queues the question for the rows of the table.
func (u *unit) halts(into *[]string) {
	u.queue("SELECT halt FROM {}halt ORDER BY halt").Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
}

// Notify calls changed whenever an instance has changed what is stopped, so that
// nobody has to wait for the next reading, see [ambit.HaltNotifier]. It keeps a
// connection of its own, beside the pool's, for as long as it waits.
func (h *Halts) Notify(ctx context.Context, changed func()) error {
	config := h.store.pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return err
		}
	}
	connection, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = connection.Close(ending)
	}()
	if _, err := connection.Exec(ctx, "LISTEN "+h.channel()); err != nil {
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

// channel is what changes are told on: a digest of the table's name, since the name
// of a channel has 63 bytes at most.
func (h *Halts) channel() string {
	of := sha256.Sum256([]byte(h.store.options.Schema + "." + h.table()))
	return "ambit_halt_" + hex.EncodeToString(of[:8])
}

// Halt stops these too, see [ambit.HaltSwitch].
func (h *Halts) Halt(ctx context.Context, halts ...ambit.Halt) error {
	return h.store.send(ctx, func(u *unit) error {
		for _, halt := range halts {
			u.queue("INSERT INTO {}halt (halt, since) VALUES ($2, {now}) ON CONFLICT DO NOTHING", u.ahead.Load(), encode.Halt(halt))
		}
		h.tell(u)
		return nil
	})
}

// Resume releases the whole form if that was seen, see [ambit.HaltSwitch].
func (h *Halts) Resume(ctx context.Context, seen []ambit.Halt) error {
	var rows []string
	return h.store.transact(ctx, func(u *unit) { u.halts(&rows) }, func(u *unit) error {
		stopped, _ := encode.Halts(h.table(), rows) // what is none stops everything
		if err := ambit.UnseenHalts(stopped, seen); err != nil {
			return err
		}
		u.queue("DELETE FROM {}halt WHERE halt = ANY ($1)", rows) // and not what was halted since
		h.tell(u)
		return nil
	})
}

// tell queues the news for the other instances.
func (h *Halts) tell(u *unit) { u.queue("SELECT pg_notify($1, '')", h.channel()) }
