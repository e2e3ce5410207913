package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
	"github.com/ambit-dev/ambit/internal/leaktest"
)

const seeded = 41 // notes in seed.md

func TestMain(m *testing.M) {
	writeAsSecondProcess()
	goleak.VerifyTestMain(leaktest.Patient(m), goleak.Cleanup(func(code int) {
		if err := store.Postgres.Stop(); err != nil && code == 0 {
			code = 1
		}
		os.Exit(code)
	}))
}

// open opens a store on a new file, or on the one given.
func open(t *testing.T, path ...string) *store.Store {
	t.Helper()
	if len(path) == 0 {
		path = []string{filepath.Join(t.TempDir(), "notes.db")}
	}
	s, err := store.Open(t.Context(), path[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// count tells how many notes there are.
func count(t *testing.T, s *store.Store) int {
	t.Helper()
	all, err := s.Export(t.Context(), notes.ExportInput{})
	if err != nil {
		t.Fatal(err)
	}
	if all.Next != nil {
		t.Fatal("the export has more than one part; count needs one")
	}
	return all.Exported
}

func TestOpenSeedsOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder that does not exist", "50% of #1?.db")
	tests := map[string]func(t *testing.T) func() (*store.Store, error){
		"sqlite": func(t *testing.T) func() (*store.Store, error) {
			return func() (*store.Store, error) { return store.Open(t.Context(), path) }
		},
		"postgres": func(t *testing.T) func() (*store.Store, error) {
			address := store.Postgres.Database(t)
			return func() (*store.Store, error) { return store.OpenPostgres(t.Context(), address) }
		},
	}
	for name, opener := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := opener(t)
			var starters sync.WaitGroup
			for range 4 {
				starters.Go(func() {
					s, err := open()
					if err != nil {
						t.Error(err)
						return
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			starters.Wait()
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if want, got := seeded, count(t, s); want != got {
				t.Errorf("want %d notes after four starts, got %d", want, got)
			}
		})
	}
}

// Whoever may look into the folder reads nothing of the notes.
func TestOpenIsForItsOwner(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("files have no rights of this kind here")
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(folder, "notes.db"))
	if _, err := s.Create(t.Context(), notes.CreateInput{Title: "Mine"}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("want the file and two beside it, got %v, %v", files, err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: want rights 0600, got %v, %v", filepath.Base(name), info.Mode(), err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a newer file", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "notes.db")
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "use a newer program") {
			t.Errorf("want an error that asks for a newer program, got %v", err)
		}
	})
	t.Run("no address", func(t *testing.T) {
		t.Parallel()
		_, err := store.OpenPostgres(t.Context(), "postgres://notes:s3cret@localhost:port/notes")
		if err == nil || !strings.Contains(err.Error(), "postgres://USER") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("want the form of an address and no password, got %v", err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		_, err := store.OpenPostgres(t.Context(), "postgres://notes:s3cret@127.0.0.1:1/notes")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("want an error without the password, got %v", err)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		t.Parallel()
		if _, err := store.Open(t.Context(), t.TempDir()); err == nil {
			t.Error("want an error for a folder in the file's place, got none")
		}
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		if _, err := s.Create(t.Context(), notes.CreateInput{Title: `C++ and "quoted" words`, Body: "a*b OR NOT c; title:x (near) ^y"}); err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name  string
			in    notes.SearchInput
			first string // title of the best hit; empty: none
			hits  int
		}{
			{"one word", notes.SearchInput{Query: "lentils"}, "Recipe: lentil soup for the Friday lunch", 1},
			{"words in title and body", notes.SearchInput{Query: "roadmap spring wiki"}, "Roadmap for the spring release", 1},
			{"the title counts more", notes.SearchInput{Query: "wifi"}, "Guest wifi", 2},
			{"every word", notes.SearchInput{Query: "lentils plum"}, "", 0},
			{"whole words", notes.SearchInput{Query: "lent"}, "", 0},
			{"case and accents", notes.SearchInput{Query: "CAFE zurich"}, "Customer call: Café Zürich", 1},
			{"with a tag", notes.SearchInput{Query: "search", Tag: "incident"}, "Incident: slow search on 12 March", 1},
			{"with a tag that nothing has", notes.SearchInput{Query: "search", Tag: "nowhere"}, "", 0},
			{"a quote is data", notes.SearchInput{Query: `"quoted`}, `C++ and "quoted" words`, 1},
			{"quotes alone", notes.SearchInput{Query: `"" """`}, "", 0},
			{"an asterisk is no prefix", notes.SearchInput{Query: "lent*"}, "", 0},
			{"an asterisk alone", notes.SearchInput{Query: "*"}, "", 0},
			{"OR is a word", notes.SearchInput{Query: "lentils OR plum"}, "", 0},
			{"NOT is a word", notes.SearchInput{Query: "or NOT c"}, `C++ and "quoted" words`, 1},
			{"a column is no column", notes.SearchInput{Query: "title:x"}, `C++ and "quoted" words`, 1},
			{"brackets, carets, plus signs", notes.SearchInput{Query: "(near) ^y c++ {x} -"}, `C++ and "quoted" words`, 1},
			{"NEAR is a word", notes.SearchInput{Query: "NEAR(lentils plum)"}, "", 0},
			{"a null character", notes.SearchInput{Query: "lentils\x00red"}, "Recipe: lentil soup for the Friday lunch", 1},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				tt.in.Limit = 10
				out, err := s.Search(t.Context(), tt.in)
				if err != nil {
					t.Fatal(err)
				}
				if tt.hits != len(out.Hits) {
					t.Fatalf("want %d hits, got %d: %+v", tt.hits, len(out.Hits), out.Hits)
				}
				if (len(out.Hits) == 0) != (out.Hint != "") {
					t.Errorf("want a hint exactly when nothing was found, got %q for %d hits", out.Hint, len(out.Hits))
				}
				if tt.first != "" && tt.first != out.Hits[0].Title {
					t.Errorf("want %q first, got %q", tt.first, out.Hits[0].Title)
				}
			})
		}
	})
}

func TestSearchLimitAndSnippet(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		out, err := s.Search(t.Context(), notes.SearchInput{Query: "lentils", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := notes.SearchOutput{Hits: []notes.Hit{{ID: 35, Title: "Recipe: lentil soup for the Friday lunch", Tags: []string{"office", "recipe"}}}}
		if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(notes.Hit{}, "Snippet")); diff != "" {
			t.Fatalf("search (-want +got):\n%s", diff)
		}
		// How much text stands around the word is the database's choice.
		if snippet := out.Hits[0].Snippet; !strings.Contains(snippet, "1.5 kg red **lentils**, 8 onions") || len(snippet) > 200 {
			t.Errorf("want the word marked in a part of its text, got %q", snippet)
		}
		out, err = s.Search(t.Context(), notes.SearchInput{Query: "roadmap", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Hits) != 1 || !out.More {
			t.Errorf("want one hit and more to come, got %d, %v", len(out.Hits), out.More)
		}
	})
}

func TestGet(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		out, err := s.Get(t.Context(), notes.GetInput{ID: 28})
		if err != nil {
			t.Fatal(err)
		}
		if !out.Found || out.Note == nil || out.Note.Title != "Guest wifi" {
			t.Errorf("want the note on the guest wifi, got %+v", out)
		}
		out, err = s.Get(t.Context(), notes.GetInput{ID: 4711})
		if err != nil {
			t.Fatal(err)
		}
		if out.Found || out.Note != nil || out.Hint == "" {
			t.Errorf("want found: false and a hint, got %+v", out)
		}
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		note, err := s.Create(t.Context(), notes.CreateInput{Title: "Draft", Body: "one", Tags: []string{"b", "a"}})
		if err != nil {
			t.Fatal(err)
		}
		changed, err := s.Update(t.Context(), notes.UpdateInput{ID: note.ID, Version: 1, Body: new("zwieback")})
		if err != nil {
			t.Fatal(err)
		}
		want := note
		want.Version, want.Body, want.UpdatedAt = 2, "zwieback", changed.UpdatedAt
		if diff := cmp.Diff(want, changed); diff != "" {
			t.Errorf("update (-want +got):\n%s", diff)
		}
		found, err := s.Search(t.Context(), notes.SearchInput{Query: "zwieback", Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) != 1 {
			t.Errorf("want the new text found once, got %+v", found.Hits)
		}

		_, err = s.Update(t.Context(), notes.UpdateInput{ID: note.ID, Version: 1, Body: new("three")})
		refused, ok := errors.AsType[*ambit.Error](err)
		if !ok || refused.Code != ambit.CodeConflict {
			t.Fatalf("want %s for an old version, got %v", ambit.CodeConflict, err)
		}
		if diff := cmp.Diff(map[string]any{"version": int64(2)}, refused.Details); diff != "" {
			t.Errorf("details (-want +got):\n%s", diff)
		}

		_, err = s.Update(t.Context(), notes.UpdateInput{ID: 4711, Version: 1, Body: new("x")})
		if want, got := ambit.CodeNotFound, ambit.CodeOf(err); want != got {
			t.Errorf("want %s for a note that does not exist, got %v", want, err)
		}
	})
}

func TestUpdatesForOneVersion(t *testing.T) {
	t.Parallel()
	path, address := filepath.Join(t.TempDir(), "notes.db"), ""
	for name, open := range map[string]func(t *testing.T) (*store.Store, error){
		"sqlite":   func(t *testing.T) (*store.Store, error) { return store.Open(t.Context(), path) },
		"postgres": func(t *testing.T) (*store.Store, error) { return store.OpenPostgres(t.Context(), address) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" {
				address = store.Postgres.Database(t)
			}
			var stores []*store.Store // two pools, as two processes have
			for range 2 {
				s, err := open(t)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				stores = append(stores, s)
			}
			oneWriterWins(t, stores)
		})
	}
}

func oneWriterWins(t *testing.T, stores []*store.Store) {
	t.Helper()
	const writers = 16
	results := make([]error, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			_, results[i] = stores[i%2].Update(t.Context(), notes.UpdateInput{ID: 1, Version: 1, Title: new(fmt.Sprint("Writer ", i))})
		})
	}
	all.Wait()
	won := 0
	for i, err := range results {
		switch ambit.CodeOf(err) {
		case "":
			won++
		case ambit.CodeConflict:
		default:
			t.Errorf("writer %d: want success or %s, got %v", i, ambit.CodeConflict, err)
		}
	}
	if won != 1 {
		t.Errorf("want one writer to win, got %d", won)
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		var many []string
		for i := range notes.MaxTags {
			many = append(many, fmt.Sprint("tag-", i))
		}
		steps := []struct {
			in   notes.TagInput
			want notes.TagOutput
			code ambit.Code
		}{
			{in: notes.TagInput{ID: 28, Add: []string{"wifi", "guests"}}, want: notes.TagOutput{ID: 28, Tags: []string{"guests", "office", "wifi"}, Changed: true}},
			{in: notes.TagInput{ID: 28, Add: []string{"wifi", "guests"}}, want: notes.TagOutput{ID: 28, Tags: []string{"guests", "office", "wifi"}}},
			{in: notes.TagInput{ID: 28, Remove: []string{"wifi", "guests", "none"}}, want: notes.TagOutput{ID: 28, Tags: []string{"office"}, Changed: true}},
			{in: notes.TagInput{ID: 28, Add: many}, code: ambit.CodeInvalidInput},
			{in: notes.TagInput{ID: 28, Add: []string{"office"}}, want: notes.TagOutput{ID: 28, Tags: []string{"office"}}},
			{in: notes.TagInput{ID: 4711, Add: []string{"x"}}, code: ambit.CodeNotFound},
		}
		for i, step := range steps {
			got, err := s.Tag(t.Context(), step.in)
			if code := ambit.CodeOf(err); step.code != code {
				t.Fatalf("step %d: want code %q, got %v", i, step.code, err)
			}
			if step.code != "" {
				continue
			}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i, diff)
			}
		}
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		note, err := s.Create(t.Context(), notes.CreateInput{Title: "Last", Tags: []string{"trash"}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Purge(t.Context(), notes.PurgeInput{Tag: "trash", Before: new(note.UpdatedAt)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(notes.PurgeOutput{Purged: 3, IDs: []int64{39, 40, 41}}, got); diff != "" {
			t.Errorf("purge before (-want +got):\n%s", diff)
		}
		got, err = s.Purge(t.Context(), notes.PurgeInput{Tag: "trash"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(notes.PurgeOutput{Purged: 1, IDs: []int64{note.ID}}, got); diff != "" {
			t.Errorf("purge (-want +got):\n%s", diff)
		}
		if want, got := seeded-3, count(t, s); want != got {
			t.Errorf("want %d notes left, got %d", want, got)
		}
		found, err := s.Search(t.Context(), notes.SearchInput{Query: "survey", Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) != 0 {
			t.Errorf("want purged notes out of the index, got %+v", found.Hits)
		}
		again, err := s.Create(t.Context(), notes.CreateInput{Title: "After"})
		if err != nil {
			t.Fatal(err)
		}
		if again.ID <= note.ID {
			t.Errorf("want a number above %d, got %d: a purged number was used again", note.ID, again.ID)
		}
	})
}

// TestNullCharacter holds that a character which PostgreSQL does not keep is the
// caller's fault there, and no failure.
func TestNullCharacter(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		for _, in := range []notes.CreateInput{{Title: "a\x00b"}, {Title: "a", Body: "a\x00b"}} {
			if _, err := s.Create(t.Context(), in); err != nil && ambit.CodeOf(err) != ambit.CodeInvalidInput {
				t.Errorf("%q: want it kept, or %s, got %v", in, ambit.CodeInvalidInput, err)
			}
		}
	})
}

func TestPostgresAway(t *testing.T) {
	t.Parallel()
	s, err := store.OpenPostgres(t.Context(), store.Postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		"read":  func() error { _, err := s.Get(t.Context(), notes.GetInput{ID: 1}); return err },
		"write": func() error { _, err := s.Create(t.Context(), notes.CreateInput{Title: "x"}); return err },
	} {
		if err := call(); ambit.CodeOf(err) != ambit.CodeUnavailable {
			t.Errorf("%s: want %s, got %v", what, ambit.CodeUnavailable, err)
		}
	}
}

func TestCanceledBeforehand(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Create(ctx, notes.CreateInput{Title: "Too late"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("want %v, got %v", context.Canceled, err)
		}
		if want, got := seeded, count(t, s); want != got {
			t.Errorf("want %d notes, got %d", want, got)
		}
	})
}
