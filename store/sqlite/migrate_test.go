package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/store/storetest"
	"github.com/ambit-dev/ambit/trust/approval"
)

// database opens a database as an application does that has tables of its own.
func database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := driver.Open("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "app.db")) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

// A store passes the suite, whichever version its tables had before. Version 0
// has none.
func TestStore(t *testing.T) {
	t.Parallel()
	newest, err := sqlite.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for version := range newest {
		t.Run(fmt.Sprint("from version ", version), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Stores {
				db := database(t)
				if err := sqlite.MigrateTo(t.Context(), db, version); err != nil {
					t.Fatalf("bring the tables to version %d: %v", version, err)
				}
				s, err := sqlite.New(t.Context(), db, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return stores(s)
			})
		})
	}
}

// What is in the tables is there, as it was, when they have been brought up to date.
func TestMigrations_KeepWhatIsThere(t *testing.T) {
	t.Parallel()
	newest, err := sqlite.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for version := int64(1); version < newest; version++ {
		db := database(t)
		if err := sqlite.MigrateTo(t.Context(), db, version); err != nil {
			t.Fatalf("bring the tables to version %d: %v", version, err)
		}
		storetest.RunUpgrade(t, sqlite.Old(db), func() approval.Store {
			s, err := sqlite.New(t.Context(), db, sqlite.Options{})
			if err != nil {
				t.Fatalf("from version %d: %v", version, err)
			}
			return s
		})
	}
}

// Tables of a later version are not worked on.
func TestMigrations_NewerThanTheProgram(t *testing.T) {
	t.Parallel()
	db := database(t)
	if _, err := sqlite.New(t.Context(), db, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO ambit_version (version_id, is_applied) VALUES (1000, 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.New(t.Context(), db, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("want an error that says what to do, got %v", err)
	}
}

// Of several that open a new file at once, each finds it ready.
func TestMigrations_AtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
}
