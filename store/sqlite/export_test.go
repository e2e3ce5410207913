package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }

// Version returns how often the row of a proposal has been written since the first
// one was asked for.
func (s *Store) Version(ctx context.Context, id string) (times string, err error) {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS {}written (id TEXT NOT NULL)",
		"CREATE TRIGGER IF NOT EXISTS {}written_again AFTER UPDATE ON {}proposal BEGIN INSERT INTO {}written VALUES (new.id); END",
	} {
		if _, err := s.db.ExecContext(ctx, s.text(statement)); err != nil {
			return "", err
		}
	}
	err = s.db.QueryRowContext(ctx, s.text("SELECT count(*) FROM {}written WHERE id = ?"), id).Scan(&times)
	return times, err
}

// Expiring counts what the store keeps for a time.
func (s *Store) Expiring(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, s.text("SELECT (SELECT count(*) FROM {}call) + (SELECT count(*) FROM {}used) + (SELECT count(*) FROM {}rate)")).Scan(&n)
	return n, err
}

// MigrateTo brings an empty database to an earlier version.
func MigrateTo(ctx context.Context, db *sql.DB, version int64) error {
	provider, err := (&Store{db: db, options: Options{Prefix: DefaultPrefix}}).provider()
	if err != nil || version == 0 {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

// Old returns a store on tables that MigrateTo has made, which it leaves as they are.
func Old(db *sql.DB) *Store {
	s := &Store{db: db, options: Options{Prefix: DefaultPrefix, Keep: DefaultKeep, Outcome: DefaultOutcome}, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
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
