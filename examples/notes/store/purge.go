package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// shownItems is how many notes a preview lists by name.
const shownItems = 50

// PreviewPurge says which notes a purge would delete. Its version changes with
// each of them, and with any that comes or goes.
func (s *Store) PreviewPurge(ctx context.Context, in notes.PurgeInput) (preview ambit.Preview, err error) {
	err = s.read(ctx, func(ctx context.Context, tx transaction) (err error) {
		preview, _, err = purgeable(ctx, tx, in)
		return err
	})
	return preview, err
}

// Purge implements notes.Purge. It deletes what was allowed to be deleted, or
// nothing.
func (s *Store) Purge(ctx context.Context, in notes.PurgeInput) (notes.PurgeOutput, error) {
	var ids []int64
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		var now ambit.Preview
		if now, ids, err = purgeable(ctx, tx, in); err != nil {
			return err
		}
		if err := asAllowed(ctx, now.Version); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := tx.exec(ctx, "DELETE FROM note WHERE id = $1", id); err != nil {
				return err
			}
		}
		return nil
	})
	return notes.PurgeOutput{Purged: len(ids), IDs: ids}, err
}

// purgeable finds the notes that a purge is about.
func purgeable(ctx context.Context, tx transaction, in notes.PurgeInput) (preview ambit.Preview, ids []int64, err error) {
	before := int64(math.MaxInt64)
	if in.Before != nil {
		before = in.Before.UnixMilli()
	}
	ids, version := []int64{}, sha256.New()
	err = tx.rows(ctx, func(scan func(...any) error) error {
		var id, changes int64
		var title string
		if err := scan(&id, &title, &changes); err != nil {
			return err
		}
		ids = append(ids, id)
		fmt.Fprintln(version, id, changes)
		if len(ids) <= shownItems {
			preview.Items = append(preview.Items, ambit.PreviewItem{ID: strconv.FormatInt(id, 10), Title: title})
		} else {
			preview.More++
		}
		return nil
	}, `
		SELECT id, title, version FROM note
		WHERE id IN (SELECT note_id FROM tag WHERE name = $1) AND updated_at < $2
		ORDER BY id`, in.Tag, before)
	preview.Summary = fmt.Sprintf("Delete for good the notes that are tagged %s: %d", in.Tag, len(ids))
	preview.Version = hex.EncodeToString(version.Sum(nil)[:8])
	return preview, ids, err
}

// asAllowed refuses a change of something else than what was allowed. Called by
// itself, outside of an application, a method needs nobody's word.
func asAllowed(ctx context.Context, version string) error {
	if allowed := ambit.FromContext(ctx).Approval(); allowed.Level != ambit.ApprovalUnset && allowed.Version != version {
		return ambit.Errorf(ambit.CodeConflict, "What would change is no longer what was allowed.").
			WithHint("Make the call anew, and have it allowed as it is now.")
	}
	return nil
}
