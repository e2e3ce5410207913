package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Search implements notes.Search. A word in the title counts five times a word
// in the body.
func (s *Store) Search(ctx context.Context, in notes.SearchInput) (notes.SearchOutput, error) {
	out := notes.SearchOutput{Hits: []notes.Hit{}}
	err := s.read(ctx, func(ctx context.Context, tx transaction) error {
		return tx.rows(ctx, func(scan func(...any) error) error {
			var hit notes.Hit
			var tags sql.NullString
			if err := scan(&hit.ID, &hit.Title, &hit.Snippet, &tags); err != nil {
				return err
			}
			hit.Tags = splitTags(tags)
			out.Hits = append(out.Hits, hit)
			return nil
		}, s.statement(s.search), s.query(in.Query), in.Tag, in.Limit+1) // one more tells whether there is more
	})
	if err != nil {
		return notes.SearchOutput{}, fmt.Errorf("search: %w", err)
	}
	if len(out.Hits) > in.Limit {
		out.Hits, out.More = out.Hits[:in.Limit], true
	}
	if len(out.Hits) == 0 {
		out.Hint = "No note holds every word. Words are matched whole: try fewer or other words."
		if in.Tag != "" {
			out.Hint += " Or leave out the tag."
		}
	}
	return out, nil
}

// Get implements notes.Get.
func (s *Store) Get(ctx context.Context, in notes.GetInput) (notes.GetOutput, error) {
	var note notes.Note
	err := s.read(ctx, func(ctx context.Context, tx transaction) (err error) {
		note, err = s.noteByID(ctx, tx, in.ID)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return notes.GetOutput{Hint: "There is no note with this number; notes.search finds the numbers of notes."}, nil
	}
	if err != nil {
		return notes.GetOutput{}, fmt.Errorf("get note %d: %w", in.ID, err)
	}
	return notes.GetOutput{Found: true, Note: &note}, nil
}
