package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ambit-dev/ambit/store/sqlite"
)

//go:embed sqlite.sql
var sqliteTables string

// sqliteEngine is a SQLite file.
type sqliteEngine struct {
	db     *sql.DB
	ledger *sqlite.Store
}

// Open opens the SQLite file at path, makes it and its folder when they do not
// exist, for their owner alone, and brings its tables up to date. A new file holds
// the notes of the seed. The caller closes the store.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := sqlite.OpenDB(path, fts5.Register) // full-text search is an extension
	if err != nil {
		return nil, fmt.Errorf("open the file of the notes: %w", err)
	}
	e := &sqliteEngine{db: db}
	s, err := newStore(ctx, e)
	if err == nil {
		e.ledger, err = sqlite.New(ctx, db, sqlite.Options{})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %s: %w", path, err), db.Close())
	}
	return s, nil
}

func (e *sqliteEngine) begin(ctx context.Context, writes bool) (transaction, error) {
	tx, err := e.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: !writes})
	if err != nil {
		return nil, err
	}
	return &sqliteTransaction{tx, e.ledger}, nil
}

func (e *sqliteEngine) version(ctx context.Context, tx transaction) (version int, err error) {
	err = tx.row(ctx, []any{&version}, "PRAGMA user_version")
	return version, err
}

func (e *sqliteEngine) setVersion(ctx context.Context, tx transaction, version int) error {
	_, err := tx.exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

func (e *sqliteEngine) kept() Kept {
	l := e.ledger
	return Kept{Ledger: l, Keys: l.Keys(), Nonces: l.Nonces(), Replays: l.Replays(), Halts: l.Halts()}
}

func (e *sqliteEngine) close() error { return e.db.Close() }

func (e *sqliteEngine) words() dialect {
	return dialect{
		tables: sqliteTables,
		tags:   "group_concat(name, ',' ORDER BY name)",
		search: `
			SELECT note.id, note.title, snippet(note_text, -1, '**', '**', '…', 16), {tags}
			FROM note_text JOIN note ON note.id = note_text.rowid
			WHERE note_text MATCH $1
			  AND ($2 = '' OR EXISTS (SELECT 1 FROM tag WHERE note_id = note.id AND name = $2))
			ORDER BY bm25(note_text, 5.0, 1.0), note.id
			LIMIT $3`,
		query: everyWord,
	}
}

// everyWord is the full-text query that asks for each word of the text. Each
// is quoted, so that no character of it is an operator; a word of which the
// index keeps nothing, such as "*", asks for nothing.
func everyWord(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, "\x00", " ")) // a null would end the query
	for i, word := range words {
		words[i] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return strings.Join(words, " ")
}

type sqliteTransaction struct {
	tx     *sql.Tx
	ledger *sqlite.Store
}

// numbered writes the numbers of arguments as SQLite does.
func numbered(statement string) string { return strings.ReplaceAll(statement, "$", "?") }

func (t *sqliteTransaction) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := t.tx.ExecContext(ctx, numbered(statement), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (t *sqliteTransaction) row(ctx context.Context, into []any, statement string, args ...any) error {
	return t.tx.QueryRowContext(ctx, numbered(statement), args...).Scan(into...)
}

func (t *sqliteTransaction) rows(ctx context.Context, each func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := t.tx.QueryContext(ctx, numbered(statement), args...)
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

func (t *sqliteTransaction) commit(context.Context) error { return t.tx.Commit() }

func (t *sqliteTransaction) rollback() { _ = t.tx.Rollback() } // one whose context ended is rolled back already

func (t *sqliteTransaction) join(ctx context.Context) context.Context {
	return t.ledger.WithTx(ctx, t.tx)
}
