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
	"github.com/ncruces/go-sqlite3/driver"

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

// The file is for its owner alone, and so is what SQLite puts beside it: while it
// is open, when it is closed, and when an earlier program left it otherwise. What
// several may read is for the same ones. A link to the file is the file.
func TestOpen_Rights(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("files have no rights of this kind here")
	}
	folder := filepath.Join(t.TempDir(), "new")
	path, link := filepath.Join(folder, "a?b#c d.db"), filepath.Join(t.TempDir(), "link.db")
	rights := func() map[string]fs.FileMode {
		got := map[string]fs.FileMode{}
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
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
		return got
	}
	for _, test := range []struct {
		name    string
		prepare func() error
		path    string
		want    fs.FileMode
	}{
		{"a new one", func() error { return nil }, path, 0o600},
		{"as it was left", func() error { return nil }, path, 0o600},
		{"left open to others", func() error { return errors.Join(os.Chmod(path+"-wal", 0o644), os.Chmod(path+"-shm", 0o644)) }, path, 0o600},
		{"removed by another program", func() error { return errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")) }, path, 0o600},
		{"by a link", func() error {
			return errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm"), os.Symlink(path, link))
		}, link, 0o600},
		{"for a group", func() error { return os.Chmod(path, 0o660) }, path, 0o660},
	} {
		if err := test.prepare(); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		s, err := sqlite.Open(t.Context(), test.path, sqlite.Options{})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if _, err := s.Claim(t.Context(), keyed()); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		want := map[string]fs.FileMode{"new": 0o700, "a?b#c d.db": test.want, "a?b#c d.db-wal": test.want, "a?b#c d.db-shm": test.want}
		if diff := cmp.Diff(want, rights()); diff != "" {
			t.Errorf("%s, open: rights (-want +got):\n%s", test.name, diff)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(want, rights()); diff != "" {
			t.Errorf("%s, closed: rights (-want +got):\n%s", test.name, diff)
		}
		if log, err := os.Stat(path + "-wal"); err != nil || log.Size() != 0 {
			t.Errorf("%s: want the log emptied, got %v, %v", test.name, log, err)
		}
	}
	if err := errors.Join(os.Remove(path+"-shm"), os.Symlink(os.DevNull, path+"-shm")); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "-shm") {
		t.Errorf("a link in place of a file of SQLite's: want it refused, got %v, %v", s, err)
	}
}

// What the store commits is on disk, whatever the application has opened its
// database with, and stronger settings stay.
func TestT17_OnDisk(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]int{"off": 2, "normal": 2, "full": 2, "extra": 3} {
		db, err := driver.Open("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "app.db")) + "?_pragma=journal_mode(wal)&_pragma=synchronous(" + setting + ")")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1) // the store's is the one that is asked
		s, err := sqlite.New(t.Context(), db, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Claim(t.Context(), keyed()); err != nil {
			t.Fatal(err)
		}
		got := 0
		if err := db.QueryRow("PRAGMA synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("synchronous=%s: want %d where the store has written, got %d, %v", setting, want, got, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A call that would have to be claimed within the application's transaction is
// refused at once, instead of waiting for the lock that this transaction has; what
// was never claimed is given back without a word.
func TestClaimWithinATransaction(t *testing.T) {
	t.Parallel()
	db := database(t)
	s, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("CREATE TABLE note (text TEXT)"); err != nil {
		t.Fatal(err)
	}
	ctx, c := s.WithTx(t.Context(), tx), keyed()
	if _, err := s.Claim(ctx, c); err == nil || !strings.Contains(err.Error(), "WithTx") {
		t.Errorf("want an error that says why, got %v", err)
	}
	if err := s.Release(ctx, c); err != nil {
		t.Error(err)
	}
	if r, err := s.Find(ctx, c); err != nil || r.State != ambit.RecordFree {
		t.Errorf("want nothing claimed, got state %d, %v", r.State, err)
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
	if diff := cmp.Diff([]ambit.Halt{{Kind: ambit.HaltAgents}, {Kind: ambit.HaltAll}}, halts); !ok || len(misread.Faults) != 1 || diff != "" {
		t.Errorf("want one fault, got %v (-want +got):\n%s", err, diff)
	}
	if err := s.Halts().Resume(t.Context(), halts[:1]); err == nil {
		t.Error("Resume by somebody who has not seen that everything is stopped: want an error, got none")
	}
	if err := s.Halts().Resume(t.Context(), halts); err != nil {
		t.Error(err)
	}
	if halts, err := s.Halts().Read(t.Context()); err != nil || len(halts) > 0 {
		t.Errorf("want nothing stopped, got %v, %v", halts, err)
	}
}
