package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
	// Schema is the one that the tables are in. It is made where it does not
	// exist. Empty: the first of the connection's search path.
	Schema string
	// Prefix stands before the names of all tables and indexes. Empty: "ambit_".
	// Schema and Prefix are lower-case letters, digits and underscores, at most
	// 32, no digit first.
	Prefix string
	// Keep is how long the key of a call is kept, from its claim on. Zero: 24
	// hours.
	Keep time.Duration
	// Outcome is how many bytes an outcome may have to be kept. Of a longer one
	// the receipt is kept ([ambit.Receipt]). Zero: 1 MiB.
	Outcome int
}

// Store keeps everything in one PostgreSQL database. Make it with [Open] or
// [New]. It is safe for concurrent use, starts nothing in the background, and
// must not be copied.
type Store struct {
	pool    *pgxpool.Pool
	own     bool // the pool is closed with the store
	options Options
	tables  string       // what stands before the names of tables
	ahead   atomic.Int64 // microseconds by which tests set the clock ahead
}

// Open connects to the database that a URL or a list of settings names, as
// [pgxpool.ParseConfig] reads them, and brings its tables up to date. The caller
// closes the store.
func Open(ctx context.Context, database string, o Options) (*Store, error) {
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return nil, errors.New("postgres: the address of the database cannot be read: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE") // the error may show the password
	}
	s, err := New(ctx, pool, o)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// New returns a store on a pool of the application's own, and brings its tables
// up to date. The caller closes the pool after the store's last use.
func New(ctx context.Context, pool *pgxpool.Pool, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	name := regexp.MustCompile(`^[a-z_][a-z0-9_]{0,31}$`)
	switch {
	case !name.MatchString(o.Prefix):
		return nil, fmt.Errorf("postgres: Options.Prefix is %q: use at most 32 lower-case letters, digits and underscores, no digit first", o.Prefix)
	case o.Schema != "" && !name.MatchString(o.Schema):
		return nil, fmt.Errorf("postgres: Options.Schema is %q: use at most 32 lower-case letters, digits and underscores, no digit first", o.Schema)
	case o.Keep < 0 || o.Outcome < 0:
		return nil, errors.New("postgres: a field of Options is negative: leave it zero for the default")
	}
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Outcome == 0 {
		o.Outcome = DefaultOutcome
	}
	s := &Store{pool: pool, options: o, tables: o.Prefix}
	if o.Schema != "" {
		s.tables = pgx.Identifier{o.Schema}.Sanitize() + "." + o.Prefix
	}
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("postgres: bring the tables up to date: %w", s.withCure(ctx, err))
	}
	return s, nil
}

// Close closes the connections of a store that [Open] made; otherwise it does
// nothing. No method may be called afterwards. The error is always nil: it is there
// so that closing looks the same for every store.
func (s *Store) Close() error {
	if s.own {
		s.pool.Close()
	}
	return nil
}
