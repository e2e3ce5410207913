package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
)

// What adds a key, a nonce or a rate removes some that have expired. However many
// have not, it reads none of them for that.
func TestExpired_ReadsNoOthers(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(database(t, false))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1 // whose statistics are up to date
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const many = 5000
	for _, statement := range []string{
		"INSERT INTO ambit_call SELECT decode(md5(i::text), 'hex'), '', '', '', 9e15, 9e15 + i, false FROM generate_series(1, $1) i",
		"INSERT INTO ambit_used SELECT md5(i::text), 9e15 + i FROM generate_series(1, $1) i",
		"INSERT INTO ambit_rate SELECT md5(i::text), 9e15 + i, 9e15 + i FROM generate_series(1, $1) i",
	} {
		if _, err := pool.Exec(t.Context(), statement, many); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	for table, do := range map[string]func(context.Context) error{
		"ambit_call": func(ctx context.Context) error { _, err := s.Claim(ctx, keyed()); return err },
		"ambit_used": func(ctx context.Context) error {
			_, err := s.Nonces().Record(ctx, "a", "1", time.Now())
			return err
		},
		"ambit_rate": func(ctx context.Context) error {
			_, err := s.Take(ctx, "a", ambit.Rate{Calls: 1, Per: time.Minute})
			return err
		},
	} {
		read := func() (n int64) {
			t.Helper()
			if _, err := pool.Exec(t.Context(), "SELECT pg_stat_force_next_flush()"); err != nil {
				t.Fatal(err)
			}
			err := pool.QueryRow(t.Context(), `
				SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = $1)
					+ (SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = $1)`, table).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := read()
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := read() - before; n > 10 {
			t.Errorf("%s: want a few of %d rows read, it were %d", table, many, n)
		}
	}
}
