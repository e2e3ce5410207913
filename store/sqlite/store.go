package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

var (
	_ approval.Store    = (*Store)(nil)
	_ audit.Store       = (*Store)(nil)
	_ ambit.SharedRates = (*Store)(nil)
	_ ambit.Joiner      = (*Store)(nil)
)

// What a [Store] goes by unless its [Options] say otherwise.
const (
	DefaultPrefix  = "ambit_"
	DefaultKeep    = 24 * time.Hour
	DefaultOutcome = 1 << 20
)

// Options are those of a [Store]. The zero value holds the defaults.
type Options struct {
	// Prefix stands before the names of all tables and indexes: lower-case
	// letters, digits and underscores, at most 32, no digit first. Empty: "ambit_".
	Prefix string
	// Keep is how long the key of a call is kept, from its claim on. Zero: 24
	// hours.
	Keep time.Duration
	// Outcome is how many bytes an outcome may have to be kept. Of a longer one
	// the receipt is kept ([ambit.Receipt]). Zero: 1 MiB.
	Outcome int
}

// Store keeps everything in one SQLite database. Make it with [Open] or [New]. It
// is safe for concurrent use, starts nothing in the background, and must not be
// copied.
type Store struct {
	db      *sql.DB
	own     bool // the database is closed with the store
	options Options
	turn    chan struct{} // holds one token: writers of this process take turns
	ahead   atomic.Int64  // microseconds by which tests set the clock ahead
}

// Open opens the file at path for the store alone, as [OpenDB] does, and brings
// its tables up to date. The caller closes the store.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	db, err := OpenDB(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	s, err := New(ctx, db, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	s.own = true
	return s, nil
}

// New returns a store on a database of the application's own, and brings its
// tables up to date. [OpenDB] opens one as it should be: in WAL mode, and with a
// busy timeout, since the application writes to it too. On connections that the
// store writes by it raises synchronous to FULL. The caller closes the database
// after the store's last use.
func New(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	switch {
	case !regexp.MustCompile(`^[a-z_][a-z0-9_]{0,31}$`).MatchString(o.Prefix):
		return nil, fmt.Errorf("sqlite: Options.Prefix is %q: use at most 32 lower-case letters, digits and underscores, no digit first", o.Prefix)
	case o.Keep < 0 || o.Outcome < 0:
		return nil, errors.New("sqlite: a field of Options is negative: leave it zero for the default")
	}
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Outcome == 0 {
		o.Outcome = DefaultOutcome
	}
	s := &Store{db: db, options: o, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("sqlite: bring the tables up to date: %w", err)
	}
	return s, nil
}

// Close closes the file of a store that [Open] made; otherwise it does nothing.
// No method may be called afterwards.
func (s *Store) Close() error {
	if !s.own {
		return nil
	}
	return s.db.Close()
}
