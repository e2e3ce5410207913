package store

import (
	"testing"

	"github.com/ambit-dev/ambit/internal/postgrestest"
)

// Postgres is the PostgreSQL server of the tests.
var Postgres postgrestest.Shared

// ForEachEngine runs a test on a new SQLite file and on a new PostgreSQL database.
func ForEachEngine(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (*Store, error){
		"sqlite":   func(t *testing.T) (*Store, error) { return Open(t.Context(), t.TempDir()+"/notes.db") },
		"postgres": func(t *testing.T) (*Store, error) { return OpenPostgres(t.Context(), Postgres.Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s)
		})
	}
}
