// Package store keeps notes in one SQLite file and implements the contracts of
// package notes on it. Each method that a contract is bound to has the form
// func(context.Context, Input) (Output, error).
//
// Any number of processes may use one file at a time. Readers never wait;
// writers take turns. Everything stops when its context ends, and what was half
// done is undone.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Store is a file of notes. It is safe for concurrent use.
type Store struct {
	db *sql.DB
}

// Open opens the file at path, makes it and its folder when they do not exist,
// and brings its tables up to date. A new file holds the notes of the seed. The
// caller closes the store.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the notes: %w", err)
	}
	db, err := driver.Open(sourceName(path), fts5.Register) // full-text search is an extension
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{db: db}
	if err := s.write(ctx, migrate); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %s: %w", path, err), db.Close())
	}
	return s, nil
}

// Close closes the file. No method may be called afterwards.
func (s *Store) Close() error { return s.db.Close() }

// sourceName is the data source name for a file. The driver begins every
// transaction that may write as IMMEDIATE, so that a writer waits for its turn
// before it reads and never loses it half-way.
func sourceName(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": {
		"busy_timeout(10000)", // first, so that the next one waits too
		"journal_mode(wal)",
		"synchronous(normal)",
		"foreign_keys(on)",
	}}.Encode()}).String()
}

// write runs do in a transaction of its own and commits it if do returns nil.
func (s *Store) write(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	return s.transaction(ctx, nil, do)
}

// read runs do on one unchanging state of the file.
func (s *Store) read(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	return s.transaction(ctx, &sql.TxOptions{ReadOnly: true}, do)
}

func (s *Store) transaction(ctx context.Context, options *sql.TxOptions, do func(context.Context, *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return endedOr(ctx, err)
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback() // a transaction whose context ended is rolled back already
		return endedOr(ctx, err)
	}
	return endedOr(ctx, tx.Commit())
}

// endedOr prefers the end of the context to the error that it has caused in
// the database, so that a canceled call is reported as such.
func endedOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// selectNote reads whole notes; a condition follows it.
const selectNote = `
	SELECT note.id, note.title, note.body, note.version, note.created_at, note.updated_at,
	       (SELECT group_concat(name, ',' ORDER BY name) FROM tag WHERE note_id = note.id)
	FROM note `

// scanNote reads one row of selectNote.
func scanNote(scan func(...any) error) (notes.Note, error) {
	var n notes.Note
	var created, updated int64
	var tags sql.NullString
	if err := scan(&n.ID, &n.Title, &n.Body, &n.Version, &created, &updated, &tags); err != nil {
		return notes.Note{}, err
	}
	n.CreatedAt, n.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	n.Tags = splitTags(tags)
	return n, nil
}

// noteByID reads one note; sql.ErrNoRows means there is none.
func noteByID(ctx context.Context, tx *sql.Tx, id int64) (notes.Note, error) {
	return scanNote(tx.QueryRowContext(ctx, selectNote+"WHERE note.id = ?", id).Scan)
}

// splitTags takes apart what group_concat has joined: no tag holds a comma.
func splitTags(joined sql.NullString) []string {
	if joined.String == "" {
		return []string{}
	}
	return strings.Split(joined.String, ",")
}
