// Package store keeps notes in one database, a SQLite file or PostgreSQL, and
// implements the contracts of package notes on it. Each method that a contract is
// bound to has the form func(context.Context, Input) (Output, error). What Ambit
// keeps for the application is in the same database, see [Store.Kept].
//
// Any number of processes may use one database at a time. Readers never wait;
// writers take turns. Everything stops when its context ends, and what was half
// done is undone.
package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Store is a database of notes. It is safe for concurrent use.
type Store struct {
	engine engine
	dialect
}

// newStore brings the tables up to date.
func newStore(ctx context.Context, e engine) (*Store, error) {
	s := &Store{engine: e, dialect: e.words()}
	return s, s.write(ctx, s.migrate)
}

// Close closes the database. No method may be called afterwards.
func (s *Store) Close() error { return s.engine.close() }

// Kept returns what the database keeps for Ambit.
func (s *Store) Kept() Kept { return s.engine.kept() }

// statement puts into a statement what is said in the words of the database.
func (s *Store) statement(text string) string {
	return strings.ReplaceAll(text, "{tags}", "(SELECT "+s.tags+" FROM tag WHERE note_id = note.id)")
}

// selectNote reads whole notes; a condition follows it.
const selectNote = `
	SELECT note.id, note.title, note.body, note.version, note.created_at, note.updated_at, {tags}
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
func (s *Store) noteByID(ctx context.Context, tx transaction, id int64) (notes.Note, error) {
	return scanNote(func(into ...any) error {
		return tx.row(ctx, into, s.statement(selectNote+"WHERE note.id = $1"), id)
	})
}

// splitTags takes apart what the database has joined: no tag holds a comma.
func splitTags(joined sql.NullString) []string {
	if joined.String == "" {
		return []string{}
	}
	return strings.Split(joined.String, ",")
}
