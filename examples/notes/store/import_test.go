package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// rows counts the notes and, in the index, their titles that hold a word.
func rows(t *testing.T, s *Store, word string) (inTable, inIndex int) {
	t.Helper()
	index := "note WHERE words @@ plainto_tsquery('simple', note_plain($1))"
	if _, ok := s.engine.(*sqliteEngine); ok {
		index = "note_text($1)"
	}
	err := s.read(t.Context(), func(ctx context.Context, tx transaction) error {
		return tx.row(ctx, []any{&inTable, &inIndex}, "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM "+index+")", word)
	})
	if err != nil {
		t.Fatal(err)
	}
	return inTable, inIndex
}

func TestImport(t *testing.T) {
	t.Parallel()
	ForEachEngine(t, func(t *testing.T, s *Store) {
		out, err := s.Import(t.Context(), notes.ImportInput{Format: "markdown", Text: "# Pelican\nTags: birds, sea\n\nLarge bill.\n\n# Heron\n"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(notes.ImportOutput{Imported: 2, IDs: []int64{42, 43}}, out); diff != "" {
			t.Errorf("import (-want +got):\n%s", diff)
		}
		got, err := s.Get(t.Context(), notes.GetInput{ID: 42})
		if err != nil {
			t.Fatal(err)
		}
		want := notes.Note{
			ID: 42, Title: "Pelican", Body: "Large bill.", Tags: []string{"birds", "sea"}, Version: 1,
			CreatedAt: got.Note.CreatedAt, UpdatedAt: got.Note.CreatedAt,
		}
		if diff := cmp.Diff(&want, got.Note); diff != "" {
			t.Errorf("the first note (-want +got):\n%s", diff)
		}

		out, err = s.Import(t.Context(), notes.ImportInput{Format: "text", Text: " \n---\n\n"})
		if err != nil {
			t.Fatal(err)
		}
		if out.Imported != 0 || out.IDs == nil || out.Hint == "" {
			t.Errorf("want nothing imported and a hint for a blank text, got %+v", out)
		}
	})
}

func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ForEachEngine(t, func(t *testing.T, s *Store) {
		tests := []struct{ name, text, want string }{
			{"no title", "# Ostrich\n\n# \n", "note 2 of 2: it has no title"},
			{"long title", "# Ostrich\n# " + strings.Repeat("ä", notes.MaxTitle+1), "note 2 of 2: its title is longer than 200 characters"},
			{"long body", "# Ostrich\n" + strings.Repeat("ä", notes.MaxBody+1), "note 1 of 1: its text is longer than 20000 characters"},
			{"bad tag", "# Ostrich\nTags: Big Bird\n", "note 1 of 1: a tag is 1 to 40 lower-case letters, digits and hyphens, and one of its tags is not"},
			{"many tags", "# Ostrich\nTags: " + strings.Repeat("a,", notes.MaxTags+1), "note 1 of 1: it has more than 20 tags"},
			{"many notes", strings.Repeat("# Ostrich\n", notes.MaxImport+1), "the text holds 1001 notes; at most 1000 fit into one import: split it"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := s.Import(t.Context(), notes.ImportInput{Format: "markdown", Text: tt.text})
				refused, ok := errors.AsType[*ambit.Error](err)
				if !ok {
					t.Fatalf("want an *ambit.Error, got %v", err)
				}
				if diff := cmp.Diff(ambit.Invalid("/text", tt.want).Faults, refused.Faults); diff != "" {
					t.Errorf("faults (-want +got):\n%s", diff)
				}
				if table, index := rows(t, s, "Ostrich"); table != 41 || index != 0 {
					t.Errorf("want 41 notes and none on ostriches, got %d and %d", table, index)
				}
			})
		}
	})
}

func TestImportCanceledInTheMiddle(t *testing.T) {
	t.Parallel()
	ForEachEngine(t, func(t *testing.T, s *Store) {
		drafts := make([]draft, 500)
		for i := range drafts {
			drafts[i] = draft{title: fmt.Sprint("Ostrich ", i), tags: []string{"birds"}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reached := 0
		err := s.write(ctx, func(ctx context.Context, tx transaction) error {
			_, err := insertAll(ctx, tx, drafts, time.Now(), func(done int) {
				reached = done
				if done == 250 {
					cancel()
				}
			})
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("want %v, got %v", context.Canceled, err)
		}
		if reached != 250 {
			t.Errorf("want the import to stop after 250 notes, got %d", reached)
		}
		if table, index := rows(t, s, "Ostrich"); table != 41 || index != 0 {
			t.Errorf("want 41 notes and none on ostriches, got %d and %d", table, index)
		}
		if _, err := s.Create(t.Context(), notes.CreateInput{Title: "Next writer"}); err != nil {
			t.Errorf("the next writer: %v", err)
		}
	})
}

func TestExportInParts(t *testing.T) {
	t.Parallel()
	ForEachEngine(t, func(t *testing.T, s *Store) {
		body := strings.Repeat("0123456789", notes.MaxBody/10)
		for range 30 {
			if _, err := s.Create(t.Context(), notes.CreateInput{Title: "Long", Body: body, Tags: []string{"long"}}); err != nil {
				t.Fatal(err)
			}
		}
		var parts, exported int
		in := notes.ExportInput{Tag: "long"}
		for {
			out, err := s.Export(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if most := exportPart + 2*notes.MaxBody; len(out.Markdown) > most {
				t.Errorf("want parts of at most %d bytes, got %d", most, len(out.Markdown))
			}
			if got := len(parseMarkdown(out.Markdown)); got != out.Exported {
				t.Errorf("want %d notes in the text, got %d", out.Exported, got)
			}
			parts, exported = parts+1, exported+out.Exported
			if out.Next == nil {
				break
			}
			in.After = *out.Next
		}
		if parts != 3 || exported != 30 {
			t.Errorf("want 30 notes in 3 parts, got %d in %d", exported, parts)
		}
		in.After = 1 << 40
		if out, err := s.Export(t.Context(), in); err != nil || out.Exported != 0 || out.Hint == "" {
			t.Errorf("want a hint after the last note, got %+v, %v", out, err)
		}
	})
}
