package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Create implements notes.Create.
func (s *Store) Create(ctx context.Context, in notes.CreateInput) (notes.Note, error) {
	var note notes.Note
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		id, err := insert(ctx, tx, draft{title: in.Title, body: in.Body, tags: in.Tags}, time.Now())
		if err != nil {
			return err
		}
		note, err = s.noteByID(ctx, tx, id)
		return err
	})
	if err != nil {
		return notes.Note{}, fmt.Errorf("create: %w", err)
	}
	return note, nil
}

// Update implements notes.Update. Reading the version and writing the change
// are one transaction, so of two changes made for one version one is refused.
func (s *Store) Update(ctx context.Context, in notes.UpdateInput) (notes.Note, error) {
	var note notes.Note
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		current, err := s.noteByID(ctx, tx, in.ID)
		if err != nil {
			return orNoNote(err, in.ID)
		}
		if current.Version != in.Version {
			return conflict(in.Version, current.Version)
		}
		_, err = tx.exec(ctx, `
			UPDATE note SET title = coalesce(CAST($1 AS TEXT), title), body = coalesce(CAST($2 AS TEXT), body),
			                version = version + 1, updated_at = $3
			WHERE id = $4`,
			in.Title, in.Body, time.Now().UnixMilli(), in.ID)
		if err != nil {
			return err
		}
		note, err = s.noteByID(ctx, tx, in.ID)
		return err
	})
	return note, err
}

// Tag implements notes.Tag. It changes no text, so it leaves the version.
func (s *Store) Tag(ctx context.Context, in notes.TagInput) (notes.TagOutput, error) {
	out := notes.TagOutput{ID: in.ID}
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		if _, err := s.noteByID(ctx, tx, in.ID); err != nil {
			return orNoNote(err, in.ID)
		}
		var changed int64
		for _, name := range in.Remove {
			done, err := tx.exec(ctx, "DELETE FROM tag WHERE note_id = $1 AND name = $2", in.ID, name)
			if err != nil {
				return err
			}
			changed += done
		}
		for _, name := range in.Add {
			done, err := tx.exec(ctx, addTag, in.ID, name)
			if err != nil {
				return err
			}
			changed += done
		}
		note, err := s.noteByID(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		if len(note.Tags) > notes.MaxTags {
			return ambit.Invalid("/add", fmt.Sprintf("the note would have %d tags; at most %d are kept: remove some", len(note.Tags), notes.MaxTags))
		}
		out.Tags, out.Changed = note.Tags, changed > 0
		return nil
	})
	return out, err
}

const addTag = "INSERT INTO tag (note_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING"

// insert writes one new note and returns its number.
func insert(ctx context.Context, tx transaction, d draft, at time.Time) (id int64, err error) {
	err = tx.row(ctx, []any{&id},
		"INSERT INTO note (title, body, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id",
		d.title, d.body, at.UnixMilli())
	if err != nil {
		return 0, err
	}
	for _, name := range d.tags {
		if _, err := tx.exec(ctx, addTag, id, name); err != nil {
			return 0, err
		}
	}
	return id, nil
}
