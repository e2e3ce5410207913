package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Purge implements notes.Purge.
func (s *Store) Purge(ctx context.Context, in notes.PurgeInput) (notes.PurgeOutput, error) {
	before := int64(math.MaxInt64)
	if in.Before != nil {
		before = in.Before.UnixMilli()
	}
	ids := []int64{}
	err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			DELETE FROM note
			WHERE id IN (SELECT note_id FROM tag WHERE name = ?) AND updated_at < ?
			RETURNING id`, in.Tag, before)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	if err != nil {
		return notes.PurgeOutput{}, fmt.Errorf("purge: %w", err)
	}
	slices.Sort(ids)
	return notes.PurgeOutput{Purged: len(ids), IDs: ids}, nil
}
