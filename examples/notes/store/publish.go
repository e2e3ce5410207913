package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// opening is how many characters of a note's text a preview shows.
const opening = 250

// mostPublished is how many published notes are listed.
const mostPublished = 20

// PreviewPublish says which note would be published, how it begins, and in which
// version.
func (s *Store) PreviewPublish(ctx context.Context, in notes.PublishInput) (preview ambit.Preview, err error) {
	err = s.read(ctx, func(ctx context.Context, tx transaction) error {
		note, err := s.noteByID(ctx, tx, in.ID)
		if err != nil {
			return orNoNote(err, in.ID)
		}
		preview = ambit.Preview{
			Summary: "Let everybody on the network read " + strconv.Quote(note.Title),
			Items:   []ambit.PreviewItem{{ID: strconv.FormatInt(note.ID, 10), Title: note.Title, Change: beginning(note.Body)}},
			Version: strconv.FormatInt(note.Version, 10),
		}
		return nil
	})
	return preview, err
}

// beginning is the first characters of a text, in one line.
func beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > opening {
		return string(runes[:opening]) + "…"
	}
	return text
}

// Publish implements notes.Publish. It publishes the version that was allowed, or
// nothing.
func (s *Store) Publish(ctx context.Context, in notes.PublishInput) (notes.PublishOutput, error) {
	var out notes.PublishOutput
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		note, err := s.noteByID(ctx, tx, in.ID)
		if err != nil {
			return orNoNote(err, in.ID)
		}
		if err := asAllowed(ctx, strconv.FormatInt(note.Version, 10)); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `
			INSERT INTO published (note_id, version, title, body, published_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (note_id) DO UPDATE SET version = $2, title = $3, body = $4, published_at = $5`,
			note.ID, note.Version, note.Title, note.Body, time.Now().UnixMilli())
		out = notes.PublishOutput{ID: note.ID, Version: note.Version}
		return err
	})
	return out, err
}

// Published implements notes.Published.
func (s *Store) Published(ctx context.Context, _ ambit.Empty) (notes.PublishedOutput, error) {
	out := notes.PublishedOutput{Notes: []notes.PublishedNote{}}
	err := s.read(ctx, func(ctx context.Context, tx transaction) error {
		return tx.rows(ctx, func(scan func(...any) error) error {
			var n notes.PublishedNote
			err := scan(&n.ID, &n.Title, &n.Body)
			out.Notes = append(out.Notes, n)
			return err
		}, "SELECT note_id, title, body FROM published ORDER BY published_at DESC, note_id DESC LIMIT $1", mostPublished)
	})
	if err != nil {
		return notes.PublishedOutput{}, fmt.Errorf("published: %w", err)
	}
	return out, nil
}
