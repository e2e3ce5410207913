package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"
)

// runner is what statements run on: a connection in a transaction of the store,
// or a transaction of the application.
type runner interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row
}

// immediate begins a transaction that writes.
const immediate = "BEGIN IMMEDIATE"

// unit is a transaction under way, and the time by which everything in it goes.
type unit struct {
	*Store
	runner
	now time.Time
}

// clock is the one expression by which statements know the time: the database's
// own, to the millisecond, in microseconds, and what tests have added.
const clock = "SELECT CAST(unixepoch('now', 'subsec') * 1000 + 0.5 AS INTEGER) * 1000 + ?"

// text puts the prefix into a statement.
func (s *Store) text(statement string) string {
	return strings.ReplaceAll(statement, "{}", s.options.Prefix)
}

func (u *unit) exec(ctx context.Context, statement string, args ...any) (changed int64, err error) {
	done, err := u.ExecContext(ctx, u.text(statement), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (u *unit) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return u.QueryContext(ctx, u.text(statement), args...)
}

func (u *unit) queryRow(ctx context.Context, statement string, args ...any) *sql.Row {
	return u.QueryRowContext(ctx, u.text(statement), args...)
}

// errWithin refuses what would wait for the end of a transaction that waits for it.
var errWithin = errors.New("sqlite: the context carries a transaction of the application on this database (WithTx), which has one writer at a time: " +
	"a call that has to be claimed, or waits for somebody's word, cannot be made within it; make it before the transaction begins or after its end")

// write runs do in a transaction that holds the database's write lock from the
// start, and commits it if do returns nil.
func (s *Store) write(ctx context.Context, do func(context.Context, *unit) error) error {
	if s.Joins(ctx) {
		return errWithin
	}
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.transaction(ctx, immediate, do)
}

// read runs do on one unchanging state of the database.
func (s *Store) read(ctx context.Context, do func(context.Context, *unit) error) error {
	return s.transaction(ctx, "BEGIN DEFERRED", do)
}

func (s *Store) transaction(ctx context.Context, begin string, do func(context.Context, *unit) error) error {
	connection, err := s.db.Conn(ctx)
	if err != nil {
		return endedOr(ctx, err)
	}
	defer connection.Close()
	if begin == immediate {
		if err := durable(ctx, connection); err != nil {
			return endedOr(ctx, err)
		}
	}
	if _, err := connection.ExecContext(ctx, begin); err != nil {
		return endedOr(ctx, err)
	}
	err = s.within(ctx, connection, do)
	if err == nil {
		err = ctx.Err()
	}
	// From here on it is too late to give up: whether it was done has to be known.
	lasting := context.WithoutCancel(ctx)
	if err == nil {
		_, err = connection.ExecContext(lasting, "COMMIT")
	}
	if err != nil {
		if _, stuck := connection.ExecContext(lasting, "ROLLBACK"); stuck != nil {
			_ = connection.Raw(func(any) error { return driver.ErrBadConn }) // no other use may find it in a transaction
		}
	}
	return endedOr(ctx, err)
}

// durable holds that what is committed by a connection is on disk, whatever the
// application has set or the driver begins with: a claim that a crash of the
// machine could undo would let a call run twice.
func durable(ctx context.Context, connection *sql.Conn) error {
	const full = 2
	var level int
	if err := connection.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil || level >= full {
		return err
	}
	_, err := connection.ExecContext(ctx, "PRAGMA synchronous = FULL")
	return err
}

// within runs do on a transaction that somebody has begun and will end.
func (s *Store) within(ctx context.Context, on runner, do func(context.Context, *unit) error) error {
	u := &unit{Store: s, runner: on}
	var now int64
	if err := u.queryRow(ctx, clock, s.ahead.Load()).Scan(&now); err != nil {
		return err
	}
	u.now = time.UnixMicro(now).UTC()
	return do(ctx, u)
}

// endedOr prefers the end of the context to the error that it has caused in
// the database.
func endedOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

type joined struct{ store *Store }

// WithTx returns a context for the rest of a call that is in a transaction of the
// application on the store's database: the outcome of the call is written in that
// transaction, so that what the handler did and what is on record about it are
// both committed or both undone. A middleware that begins the transaction, calls
// next and commits passes the context on, see docs/stores.md. A claim never
// joins.
func (s *Store) WithTx(ctx context.Context, tx *sql.Tx) context.Context {
	return context.WithValue(ctx, joined{s}, tx)
}

// Joins reports whether ctx carries a transaction of [Store.WithTx].
func (s *Store) Joins(ctx context.Context) bool { return s.joined(ctx) != nil }

func (s *Store) joined(ctx context.Context) *sql.Tx {
	tx, _ := ctx.Value(joined{s}).(*sql.Tx)
	return tx
}

// joining runs do in the application's transaction if ctx carries one, or else
// in one of its own.
func (s *Store) joining(ctx context.Context, do func(context.Context, *unit) error) error {
	if tx := s.joined(ctx); tx != nil {
		return s.within(ctx, tx, do)
	}
	return s.write(ctx, do)
}
