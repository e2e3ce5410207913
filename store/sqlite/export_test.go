package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }

// MigrateTo brings an empty database to an earlier version.
func MigrateTo(ctx context.Context, db *sql.DB, version int64) error {
	provider, err := (&Store{db: db, options: Options{Prefix: DefaultPrefix}}).provider()
	if err != nil || version == 0 {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

// Newest returns the newest version of the tables.
func Newest() (int64, error) {
	provider, err := (&Store{db: &sql.DB{}, options: Options{Prefix: DefaultPrefix}}).provider()
	if err != nil {
		return 0, err
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version, nil
}
