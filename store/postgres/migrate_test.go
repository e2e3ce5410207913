package postgres_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/storetest"
	"github.com/ambit-dev/ambit/trust/approval"
)

// connect returns a pool as an application has it.
func connect(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A store passes the suite, whichever version its tables had before. Version 0
// has none.
func TestStore(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	pool := connect(t, address)
	newest, err := postgres.MigrateTo(t.Context(), pool, "empty", 0)
	if err != nil {
		t.Fatal(err)
	}
	for version := range newest {
		t.Run(fmt.Sprint("from version ", version), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Stores {
				schema := "s" + strings.ToLower(rand.Text()) // each test has one of its own
				if _, err := postgres.MigrateTo(t.Context(), pool, schema, version); err != nil {
					t.Fatalf("bring the tables to version %d: %v", version, err)
				}
				return stores(open(t, address, postgres.Options{Schema: schema}))
			})
		})
	}
}

// What is in the tables is there, as it was, when they have been brought up to date.
func TestMigrations_KeepWhatIsThere(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	pool := connect(t, address)
	newest, err := postgres.MigrateTo(t.Context(), pool, "empty", 0)
	if err != nil {
		t.Fatal(err)
	}
	for version := int64(1); version < newest; version++ {
		schema := fmt.Sprint("from", version)
		if _, err := postgres.MigrateTo(t.Context(), pool, schema, version); err != nil {
			t.Fatalf("bring the tables to version %d: %v", version, err)
		}
		storetest.RunUpgrade(t, postgres.Old(pool, schema), func() approval.Store {
			return open(t, address, postgres.Options{Schema: schema})
		})
	}
}

// Tables of a later version are not worked on.
func TestMigrations_NewerThanTheProgram(t *testing.T) {
	t.Parallel()
	pool := connect(t, database(t, false))
	if _, err := pool.Exec(t.Context(), "INSERT INTO ambit_version (version_id, is_applied) VALUES (1000, true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.New(t.Context(), pool, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("want an error that says what to do, got %v", err)
	}
}

// Of several instances that start at once on a new database, each finds it ready.
func TestMigrations_AtOnce(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), address, postgres.Options{Schema: "apart"})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			s.Close()
		})
	}
	all.Wait()
}
