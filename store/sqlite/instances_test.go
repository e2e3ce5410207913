package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/store/storetest"
)

// Of two instances under load that share a file, one can read it no more.
func TestT23_CutOffFromTheSwitch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the lease of the halt switch")
	}
	path := filepath.Join(t.TempDir(), "halted.db")
	near, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	db, err := sqlite.OpenDB(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	far, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunCutOff(t, storetest.CutOff{
		Near: near.Halts(), Far: far.Halts(),
		Cut: func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		},
	})
}
