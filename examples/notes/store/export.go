package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// exportPart is how many bytes of text one part of an export holds before the
// next begins: well under the result limit, with room for JSON's escapes.
const exportPart = 256 << 10

// errEnough ends the reading of rows.
var errEnough = errors.New("enough")

// Export implements notes.Export.
func (s *Store) Export(ctx context.Context, in notes.ExportInput) (notes.ExportOutput, error) {
	var out notes.ExportOutput
	var text strings.Builder
	err := s.read(ctx, func(ctx context.Context, tx transaction) error {
		var last int64
		err := tx.rows(ctx, func(scan func(...any) error) error {
			note, err := scanNote(scan)
			if err != nil {
				return err
			}
			if text.Len() >= exportPart {
				out.Next = &last
				return errEnough
			}
			appendMarkdown(&text, draft{title: note.Title, body: note.Body, tags: note.Tags})
			out.Exported, last = out.Exported+1, note.ID
			return nil
		}, s.statement(selectNote+`
			WHERE note.id > $1
			  AND ($2 = '' OR EXISTS (SELECT 1 FROM tag WHERE note_id = note.id AND name = $2))
			ORDER BY note.id`), in.After, in.Tag)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	if err != nil {
		return notes.ExportOutput{}, fmt.Errorf("export: %w", err)
	}
	out.Markdown = text.String()
	if out.Exported == 0 {
		out.Hint = "No note is left to export. Leave out 'after' to start over, and 'tag' for all notes."
	}
	return out, nil
}
