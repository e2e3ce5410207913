package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }

// MigrateTo brings an empty schema to an earlier version, and returns the newest
// one.
func MigrateTo(ctx context.Context, pool *pgxpool.Pool, schema string, version int64) (newest int64, err error) {
	if _, err := pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return 0, err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider, err := (&Store{tables: schema + "." + DefaultPrefix, options: Options{Schema: schema, Prefix: DefaultPrefix}}).provider(db)
	if err != nil {
		return 0, err
	}
	if version > 0 {
		_, err = provider.UpTo(ctx, version)
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version, err
}
