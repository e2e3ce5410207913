package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }

// Version returns where the row of a proposal is, which is elsewhere each time that
// it has been written.
func (s *Store) Version(ctx context.Context, id string) (place string, err error) {
	err = s.pool.QueryRow(ctx, s.text("SELECT ctid::text FROM {}proposal WHERE id = $1"), id).Scan(&place)
	return place, err
}

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
