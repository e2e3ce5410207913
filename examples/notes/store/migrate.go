package store

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
)

//go:embed schema.sql
var firstTables string

//go:embed seed.md
var seed string

// migrate brings the tables to the newest version, one step after the other.
// It runs in one transaction that writes, so of several processes that start
// at once one does the work and the others find it done.
func migrate(ctx context.Context, tx *sql.Tx) error {
	steps := []func(context.Context, *sql.Tx) error{makeTables}

	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("the file has version %d, this program knows versions up to %d: use a newer program", version, len(steps))
	}
	for ; version < len(steps); version++ {
		if err := steps[version](ctx, tx); err != nil {
			return fmt.Errorf("step %d: %w", version+1, err)
		}
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// makeTables makes the tables and fills them with the seed.
func makeTables(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, firstTables); err != nil {
		return err
	}
	_, err := insertAll(ctx, tx, parseMarkdown(seed), func(int) {})
	return err
}
