package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Search implements notes.Search. A word in the title counts five times a word
// in the body.
func (s *Store) Search(ctx context.Context, in notes.SearchInput) (notes.SearchOutput, error) {
	out := notes.SearchOutput{Hits: []notes.Hit{}}
	err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT note.id, note.title, snippet(note_text, -1, '**', '**', '…', 16),
			       (SELECT group_concat(name, ',' ORDER BY name) FROM tag WHERE note_id = note.id)
			FROM note_text JOIN note ON note.id = note_text.rowid
			WHERE note_text MATCH ?1
			  AND (?2 = '' OR EXISTS (SELECT 1 FROM tag WHERE note_id = note.id AND name = ?2))
			ORDER BY bm25(note_text, 5.0, 1.0), note.id
			LIMIT ?3`,
			everyWord(in.Query), in.Tag, in.Limit+1) // one more tells whether there is more
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var hit notes.Hit
			var tags sql.NullString
			if err := rows.Scan(&hit.ID, &hit.Title, &hit.Snippet, &tags); err != nil {
				return err
			}
			hit.Tags = splitTags(tags)
			out.Hits = append(out.Hits, hit)
		}
		return rows.Err()
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
	err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		note, err = noteByID(ctx, tx, in.ID)
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

// everyWord is the full-text query that asks for each word of the text. Each
// is quoted, so that no character of it is an operator; a word of which the
// index keeps nothing, such as "*", asks for nothing.
func everyWord(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, "\x00", " ")) // a null would end the query
	for i, word := range words {
		words[i] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return strings.Join(words, " ")
}
