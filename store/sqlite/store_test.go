package sqlite_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/sqlite"
)

// Wrong options are told by name.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options sqlite.Options
		want    string
	}{
		{sqlite.Options{Prefix: "Ambit"}, "Options.Prefix"},
		{sqlite.Options{Prefix: "a; DROP TABLE note; --"}, "Options.Prefix"},
		{sqlite.Options{Prefix: "1a"}, "Options.Prefix"},
		{sqlite.Options{Prefix: strings.Repeat("a", 33)}, "Options.Prefix"},
		{sqlite.Options{Keep: -1}, "negative"},
		{sqlite.Options{Outcome: -1}, "negative"},
	} {
		_, err := sqlite.New(t.Context(), database(t), test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: want an error about %s, got %v", test.options, test.want, err)
		}
	}
}

// Two stores with prefixes of their own share a database and nothing else.
func TestPrefix(t *testing.T) {
	t.Parallel()
	db := database(t)
	var both []*sqlite.Store
	for _, prefix := range []string{"one_", "two_"} {
		s, err := sqlite.New(t.Context(), db, sqlite.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, s)
	}
	c := keyed()
	for i, s := range both {
		if r, err := s.Claim(t.Context(), c); err != nil || r.State != ambit.RecordFree {
			t.Errorf("claim in store %d: got state %d, error %v", i+1, r.State, err)
		}
	}
}

// keyed is the claim of a call with an idempotency key.
func keyed() (c ambit.Claim) {
	_, _ = rand.Read(c.Attempt[:]) // crypto/rand.Read never fails (Go 1.24)
	_, _ = rand.Read(c.Key[:])
	c.Binding = ambit.Binding{Principal: "0:/6:apikey/robot", Capability: "notes.create"}
	c.Lease = time.Minute
	return c
}

// The file is for its owner alone, and so is what SQLite puts beside it.
func TestOpen_Rights(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "a?b#c d.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Claim(t.Context(), keyed()); err != nil {
		t.Fatal(err)
	}
	got := map[string]fs.FileMode{}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		got[filepath.Base(path)] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{"new": 0o700, "a?b#c d.db": 0o600, "a?b#c d.db-wal": 0o600, "a?b#c d.db-shm": 0o600}
	if diff := cmp.Diff(want, got); diff != "" && os.PathSeparator == '/' {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}

// An outcome joins the application's transaction: it is there with what the
// handler wrote, or not at all.
func TestT17_FinishJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	for _, commit := range []bool{true, false} {
		db := database(t)
		s, err := sqlite.New(t.Context(), db, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE note (text TEXT)"); err != nil {
			t.Fatal(err)
		}
		c := keyed()
		if _, err := s.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO note VALUES ('hello')"); err != nil {
			t.Fatal(err)
		}
		ctx := s.WithTx(t.Context(), tx)
		if !s.Joins(ctx) || s.Joins(t.Context()) {
			t.Errorf("Joins: want true in the transaction alone, got %t and %t outside", s.Joins(ctx), s.Joins(t.Context()))
		}
		if err := s.Finish(ctx, c, ambit.Ending{Outcome: []byte("done")}); err != nil {
			t.Fatalf("Finish: %v", err)
		}
		if r, err := s.Find(t.Context(), c); err != nil || r.State != ambit.RecordRunning {
			t.Errorf("before the end of the transaction: want the call running, got state %d, error %v", r.State, err)
		}
		end, wantState, wantNotes := tx.Rollback, ambit.RecordRunning, 0
		if commit {
			end, wantState, wantNotes = tx.Commit, ambit.RecordFinished, 1
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		notes := 0
		if err := db.QueryRow("SELECT count(*) FROM note").Scan(&notes); err != nil {
			t.Fatal(err)
		}
		r, err := s.Find(t.Context(), c)
		if err != nil || r.State != wantState || notes != wantNotes {
			t.Errorf("committed %t: want state %d and %d notes, got %d and %d, error %v", commit, wantState, wantNotes, r.State, notes, err)
		}
	}
}

// A row that is no halt stops everything, and is told.
func TestT23_MisreadHalts(t *testing.T) {
	t.Parallel()
	db := database(t)
	s, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Halts().Halt(t.Context(), ambit.Halt{Kind: ambit.HaltAgents}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO ambit_halt VALUES ('everyting', 0)"); err != nil {
		t.Fatal(err)
	}
	halts, err := s.Halts().Read(t.Context())
	misread, ok := errors.AsType[*ambit.MisreadHalts](err)
	if !ok || len(misread.Faults) != 1 || len(halts) != 1 {
		t.Errorf("want one halt and one fault, got %v, %v", halts, err)
	}
}
