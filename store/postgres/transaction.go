package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// clock is the one expression by which statements know the time: the database's
// own, in microseconds, and what tests have added. It is there as {now}, and its
// argument is always the first. Where an index is to be searched by it, it is
// (SELECT {now}), or the server would look at every row anew.
const clock = "((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint)"

// text puts clock, schema and prefix into a statement.
func (s *Store) text(statement string) string {
	return strings.NewReplacer("{}", s.tables, "{i}", s.options.Prefix, "{now}", clock).Replace(statement)
}

const (
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	// patience is how long a transaction may take that is to be committed, although
	// nobody waits for it any more.
	patience = 5 * time.Second
	// briefly is how long a transaction of one round trip waits for each thing that
	// another one has locked, since nobody can have it given up.
	briefly = "500ms"
	// tries is how often a transaction is begun that has lost a race.
	tries = 20
)

// unit is what a transaction is about to send: its statements travel together,
// so that a transaction takes two round trips, one that looks and locks, and one
// that writes and commits, or one, where there is nothing to look at first.
// Whatever must not be committed has to be an error of its statement.
type unit struct {
	*Store
	pgx.Batch
	now time.Time // by the database's clock, after the locks were had
}

// queue adds a statement.
func (u *unit) queue(statement string, args ...any) *pgx.QueuedQuery {
	return u.Queue(u.text(statement), args...)
}

// transact runs a transaction. Look queues the statements that read and lock; do
// decides what to write and queues that. Both may run again.
func (s *Store) transact(ctx context.Context, look func(*unit), do func(*unit) error) (err error) {
	for range tries {
		if err = s.attempt(ctx, look, do); err == nil || ctx.Err() != nil || !lost(err) {
			break
		}
	}
	return endedOr(ctx, err)
}

func (s *Store) attempt(ctx context.Context, look func(*unit), do func(*unit) error) error {
	connection, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer connection.Release() // which closes one that is still in a transaction
	first := &unit{Store: s}
	first.Queue(begin)
	first.durable()
	look(first)
	now := time.Time{}
	first.readClock(&now)
	lasting, cancel := insistent(ctx)
	defer cancel()
	if err := connection.SendBatch(ctx, &first.Batch).Close(); err != nil {
		_, _ = connection.Exec(lasting, "ROLLBACK")
		return err
	}
	second := &unit{Store: s, now: now}
	err = do(second)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil { // from here on it is too late to give up: whether it was done has to be known
		second.Queue("COMMIT")
		err = connection.SendBatch(lasting, &second.Batch).Close()
	}
	if err != nil {
		_, _ = connection.Exec(lasting, "ROLLBACK")
	}
	return err
}

// atOnce sends a whole transaction in one round trip. Where one of its statements
// fails, nothing is written and done is false: a transaction that looks first finds
// out why.
func (s *Store) atOnce(ctx context.Context, write func(*unit) error) (done bool, err error) {
	u := &unit{Store: s}
	u.queue("SELECT set_config('lock_timeout', $1, true)", briefly) // for this transaction
	u.durable()
	if err := write(u); err != nil {
		return false, err
	}
	connection, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, endedOr(ctx, err)
	}
	defer connection.Release()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	lasting, cancel := insistent(ctx) // whether it was done has to be known
	defer cancel()
	err = connection.SendBatch(lasting, &u.Batch).Close()
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.SeverityUnlocalized == "ERROR" || pgconn.SafeToRetry(err) {
		return false, nil
	}
	return err == nil, endedOr(ctx, err)
}

// insistent returns a context for what must not be given up halfway. It lasts for as
// long as ctx does, since somebody waits, and for patience at least.
func insistent(ctx context.Context) (lasting context.Context, end context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := time.AfterFunc(patience, func() {
		forget := context.AfterFunc(ctx, cancel)
		context.AfterFunc(lasting, func() { forget() })
	})
	return lasting, func() { timer.Stop(); cancel() }
}

// durable holds that the transaction is on disk when it is committed, whatever
// server, role or address say: a claim that a crash could undo would let a call run
// twice. Stronger settings stay, and local, which is weaker for standbys alone.
func (u *unit) durable() {
	u.queue("SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'")
}

// send sends statements that are a transaction of their own, in one round trip. A
// connection that turns out to be dead before anything was sent costs nothing.
func (s *Store) send(ctx context.Context, write func(*unit) error) (err error) {
	for range tries {
		u := &unit{Store: s}
		u.durable()
		if err := write(u); err != nil {
			return err
		}
		if err = s.pool.SendBatch(ctx, &u.Batch).Close(); err == nil || ctx.Err() != nil || !pgconn.SafeToRetry(err) {
			break
		}
	}
	return endedOr(ctx, err)
}

// insist runs again what may be done twice, where the connection broke under it.
func insist(ctx context.Context, do func() error) (err error) {
	for range tries {
		if err = do(); err == nil || ctx.Err() != nil || !broke(err) {
			break
		}
	}
	return err
}

// broke reports whether an error is that of a connection, which there was.
func broke(err error) bool {
	if _, unreachable := errors.AsType[*pgconn.ConnectError](err); unreachable {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(e.Code, "57P") // the server is told to stop
	}
	_, cut := errors.AsType[net.Error](err)
	return cut || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// readClock queues the question what time it is.
func (u *unit) readClock(now *time.Time) {
	u.queue("SELECT {now}", u.ahead.Load()).QueryRow(func(row pgx.Row) error {
		var microseconds int64
		err := row.Scan(&microseconds)
		*now = time.UnixMicro(microseconds).UTC()
		return err
	})
}

// look sends statements that only read.
func (s *Store) look(ctx context.Context, ask func(*unit)) error {
	u := &unit{Store: s}
	ask(u)
	return endedOr(ctx, s.pool.SendBatch(ctx, &u.Batch).Close())
}

// lost reports whether a transaction failed because of another one, or before it
// reached the server, and has to be tried again.
func lost(err error) bool {
	if _, unreachable := errors.AsType[*pgconn.ConnectError](err); unreachable {
		return false
	}
	if pgconn.SafeToRetry(err) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (slices.Contains([]string{"40001", "40P01"}, e.Code) || // serialization, deadlock
		e.Code == "23505" && (strings.HasSuffix(e.ConstraintName, "proposal_open") || strings.HasSuffix(e.ConstraintName, "call_key")))
}

// fails reports whether an error has a code of PostgreSQL.
func fails(err error, code string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code
}

// violates reports whether an error is that a constraint does not allow it.
func violates(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505" && strings.HasSuffix(e.ConstraintName, constraint)
}

// endedOr prefers the end of the context to the error that it has caused.
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
func (s *Store) WithTx(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, joined{s}, tx)
}

// Joins reports whether ctx carries a transaction of [Store.WithTx].
func (s *Store) Joins(ctx context.Context) bool { return s.joined(ctx) != nil }

func (s *Store) joined(ctx context.Context) pgx.Tx {
	tx, _ := ctx.Value(joined{s}).(pgx.Tx)
	return tx
}
