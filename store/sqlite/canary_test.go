package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/store/storetest"
)

// A secret goes through calls of every effect, keyed, proposed, approved, repeated
// and recorded, and is in none of the files: neither the database nor its journal,
// nor what leaves the store.
func TestT09_NoSecretIsInTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunSecrets(t, storetest.Secrets{
		Store: s, Close: s.Close,
		Texts: func(t *testing.T) map[string][]byte { // the journal is there while the store is open
			t.Helper()
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			texts := make(map[string][]byte)
			for _, file := range files {
				if texts[file.Name()], err = os.ReadFile(filepath.Join(dir, file.Name())); err != nil {
					t.Fatal(err)
				}
			}
			return texts
		},
	})
}
