package store

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/store/sqlite"
)

// TestMigrateFromVersion1 opens a file of the first version: its notes stay, and
// what came later is there.
func TestMigrateFromVersion1(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.db")
	db, err := sqlite.OpenDB(path, fts5.Register)
	if err != nil {
		t.Fatal(err)
	}
	const first = "; INSERT INTO note (title, body, created_at, updated_at) VALUES ('Old', '', 0, 0); PRAGMA user_version = 1"
	if _, err := db.ExecContext(t.Context(), sqliteTables+first); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Publish(t.Context(), notes.PublishInput{ID: 1}); err != nil {
		t.Fatal(err)
	}
	published, err := s.Published(t.Context(), ambit.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	if len(published.Notes) != 1 || published.Notes[0].Title != "Old" {
		t.Errorf("want the old note published, got %+v", published)
	}
}
