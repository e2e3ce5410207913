package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
)

//go:embed postgres.sql
var postgresTables string

// writersTurn is the number of the lock that writers take in turn.
const writersTurn = 0x6e6f746573 // "notes"

// postgresEngine is a PostgreSQL database.
type postgresEngine struct {
	pool   *pgxpool.Pool
	ledger *postgres.Store
}

// OpenPostgres opens the PostgreSQL database that a URL names, as in
// postgres://notes:secret@localhost/notes, and brings its tables up to date. A
// database without notes gets those of the seed. The caller closes the store.
func OpenPostgres(ctx context.Context, url string) (*Store, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, errors.New("the address of the database has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE") // the error may show the password
	}
	if err := pool.Ping(ctx); err != nil { // whoever starts the program has to know why; it shows no password
		pool.Close()
		return nil, fmt.Errorf("open the database of the notes: %w", err)
	}
	ledger, err := postgres.New(ctx, pool, postgres.Options{}) // the first to make tables: it says which rights are missing
	if err != nil {
		pool.Close()
		return nil, err
	}
	s, err := newStore(ctx, &postgresEngine{pool: pool, ledger: ledger})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// begin begins a transaction. Writers take turns, as they do in SQLite, so that
// what one has read holds until it has written.
func (e *postgresEngine) begin(ctx context.Context, writes bool) (transaction, error) {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	if writes {
		options = pgx.TxOptions{}
	}
	tx, err := e.pool.BeginTx(ctx, options)
	if err != nil {
		away := ambit.Errorf(ambit.CodeUnavailable, "The database of the notes cannot be reached.").WithHint("Try again later.")
		return nil, fmt.Errorf("%w: %w", away, err)
	}
	t := &postgresTransaction{tx, e.ledger}
	if writes {
		if _, err := t.exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(writersTurn)); err != nil {
			t.rollback()
			return nil, err
		}
	}
	return t, nil
}

func (e *postgresEngine) version(ctx context.Context, tx transaction) (version int, err error) {
	if _, err := tx.exec(ctx, "CREATE TABLE IF NOT EXISTS notes_version (version INTEGER NOT NULL)"); err != nil {
		return 0, err
	}
	err = tx.row(ctx, []any{&version}, "SELECT coalesce(max(version), 0) FROM notes_version")
	return version, err
}

func (e *postgresEngine) setVersion(ctx context.Context, tx transaction, version int) error {
	_, err := tx.exec(ctx, "INSERT INTO notes_version (version) VALUES ($1)", version)
	return err
}

func (e *postgresEngine) kept() Kept {
	l := e.ledger
	return Kept{Ledger: l, Keys: l.Keys(), Nonces: l.Nonces(), Replays: l.Replays(), Halts: l.Halts()}
}

func (e *postgresEngine) close() error {
	e.pool.Close()
	return nil
}

func (e *postgresEngine) words() dialect {
	return dialect{
		tables: postgresTables,
		tags:   "string_agg(name, ',' ORDER BY name COLLATE \"C\")",
		search: `
			SELECT note.id, note.title,
			       ts_headline('simple', CASE WHEN to_tsvector('simple', note_plain(body)) @@ asked THEN body ELSE title END, asked,
			                   'StartSel=**, StopSel=**, MinWords=8, MaxWords=16, MaxFragments=1, FragmentDelimiter=…'),
			       {tags}
			FROM note, plainto_tsquery('simple', note_plain($1)) AS asked
			WHERE words @@ asked
			  AND ($2 = '' OR EXISTS (SELECT 1 FROM tag WHERE note_id = note.id AND name = $2))
			ORDER BY ts_rank('{0, 0, 0.2, 1}', words, asked) DESC, note.id
			LIMIT $3`,
		query: func(words string) string { return strings.ReplaceAll(words, "\x00", " ") }, // a null is no text here
	}
}

type postgresTransaction struct {
	tx     pgx.Tx
	ledger *postgres.Store
}

func (t *postgresTransaction) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := t.tx.Exec(ctx, statement, args...)
	return done.RowsAffected(), explained(err)
}

func (t *postgresTransaction) row(ctx context.Context, into []any, statement string, args ...any) error {
	return explained(t.tx.QueryRow(ctx, statement, args...).Scan(into...))
}

func (t *postgresTransaction) rows(ctx context.Context, each func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := t.tx.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t *postgresTransaction) commit(ctx context.Context) error { return t.tx.Commit(ctx) }

// rollback undoes the transaction also where its context has ended.
func (t *postgresTransaction) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = t.tx.Rollback(ctx) // one that cannot be rolled back ends with its connection
}

func (t *postgresTransaction) join(ctx context.Context) context.Context {
	return t.ledger.WithTx(ctx, t.tx)
}

// explained tells the caller about the one text that PostgreSQL does not keep and
// SQLite does.
func explained(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "22021" {
		return ambit.Invalid("", "the text holds a null character, which cannot be kept: leave it out")
	}
	return err
}
