package store

import (
	"context"
	_ "embed"
	"fmt"
	"time"
)

//go:embed published.sql
var publishedTable string

//go:embed seed.md
var seed string

// migrate brings the tables to the newest version, one step after the other.
// It runs in one transaction that writes, so of several processes that start
// at once one does the work and the others find it done.
func (s *Store) migrate(ctx context.Context, tx transaction) error {
	steps := []func(context.Context, transaction) error{s.makeTables, makePublished}

	version, err := s.engine.version(ctx, tx)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("the database has version %d, this program knows versions up to %d: use a newer program", version, len(steps))
	}
	if version == len(steps) {
		return nil
	}
	for ; version < len(steps); version++ {
		if err := steps[version](ctx, tx); err != nil {
			return fmt.Errorf("step %d: %w", version+1, err)
		}
	}
	return s.engine.setVersion(ctx, tx, version)
}

// makeTables makes the tables and fills them with the seed.
func (s *Store) makeTables(ctx context.Context, tx transaction) error {
	if _, err := tx.exec(ctx, s.tables); err != nil {
		return err
	}
	_, err := insertAll(ctx, tx, parseMarkdown(seed), time.Now(), func(int) {})
	return err
}

func makePublished(ctx context.Context, tx transaction) error {
	_, err := tx.exec(ctx, publishedTable)
	return err
}
