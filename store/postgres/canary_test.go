package postgres_test

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/storetest"
)

// A secret goes through calls of every effect, keyed, proposed, approved, repeated
// and recorded, and is in no row of any table. A server that logs every statement
// with its arguments has not heard of it either.
func TestT09_NoSecretIsInTheDatabase(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	pool := connect(t, address)
	own := server.cluster.Own()
	if own {
		if _, err := pool.Exec(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_statement = ''all''', current_database()); END $$"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunSecrets(t, storetest.Secrets{
		Store: s, Close: s.Close,
		Texts: func(t *testing.T) map[string][]byte {
			t.Helper()
			texts := dump(t, pool)
			if own {
				texts["the server's log"] = serverLog(t, pool)
			}
			return texts
		},
	})
}

// dump returns all rows of all tables that are not the server's own, as text, by
// table.
func dump(t *testing.T, pool *pgxpool.Pool) map[string][]byte {
	t.Helper()
	found, err := pool.Query(t.Context(), "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	texts, rows := make(map[string][]byte), 0
	for _, table := range tables {
		found, err := pool.Query(t.Context(), "SELECT r::text FROM "+table+" r")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			texts[table] = append(append(texts[table], line...), '\n')
		}
		rows += len(lines)
	}
	for _, table := range []string{"public.ambit_proposal", "public.ambit_call", "public.ambit_entry"} {
		if len(texts[table]) == 0 {
			t.Errorf("%s: want rows there, so that something is tested, got none among %d of %v", table, rows, tables)
		}
	}
	return texts
}

// serverLog returns what the server has said, which is all that it was asked.
func serverLog(t *testing.T, pool *pgxpool.Pool) (text []byte) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), "SELECT pg_read_binary_file(current_setting('data_directory') || '/../log')").Scan(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"INSERT INTO ambit_proposal", "vault.human"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("the server's log: want %q there, so that something is tested", part)
		}
	}
	return text
}
