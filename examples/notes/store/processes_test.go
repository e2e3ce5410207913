package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
)

// fileOfSecondProcess names the file that a second process of this test binary
// writes to.
const fileOfSecondProcess = "AMBIT_NOTES_TEST_FILE"

const written = 60 // notes that each process writes

// writeAsSecondProcess does the second process's work and ends it; in the
// first process it returns at once.
func writeAsSecondProcess() {
	path, second := os.LookupEnv(fileOfSecondProcess)
	if !second {
		return
	}
	s, err := store.Open(context.Background(), path)
	if err == nil {
		err = writeNotes(context.Background(), s, "second")
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func writeNotes(ctx context.Context, s *store.Store, who string) error {
	for i := range written {
		note, err := s.Create(ctx, notes.CreateInput{Title: fmt.Sprintf("Note %d of the %s process", i, who), Tags: []string{who}})
		if err != nil {
			return err
		}
		if _, err := s.Update(ctx, notes.UpdateInput{ID: note.ID, Version: note.Version, Body: new("written")}); err != nil {
			return err
		}
	}
	return nil
}

func TestTwoProcessesWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	second := exec.CommandContext(t.Context(), self)
	second.Env = append(os.Environ(), fileOfSecondProcess+"="+path)
	second.Stderr = os.Stderr
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path) // both make the file at the same time, too
	if err := writeNotes(t.Context(), s, "first"); err != nil {
		t.Error(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the second process: %v", err)
	}
	if want, got := seeded+2*written, count(t, s); want != got {
		t.Errorf("want %d notes, got %d", want, got)
	}
	found, err := s.Search(t.Context(), notes.SearchInput{Query: "written", Tag: "second", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if want, got := written, len(found.Hits); want != got {
		t.Errorf("want %d notes of the second process in the index, got %d", want, got)
	}
}
