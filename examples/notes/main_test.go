package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inProcess runs the program in this process.
func inProcess(t *testing.T, args ...string) (code int, stdout, notices, stderr string) {
	t.Helper()
	var out, said, errors bytes.Buffer
	code = program(&said).Run(t.Context(), args, strings.NewReader(""), &out, &errors)
	return code, out.String(), said.String(), errors.String()
}

func TestFirstRunMakesKeysAndShowsThemOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	arguments := []string{"call", "notes.get", `{"id":28}`, "--as", "reader", "--db", filepath.Join(folder, "notes.db")}

	code, stdout, notices, stderr := inProcess(t, arguments...)
	if code != 0 || !strings.Contains(stdout, "Guest wifi") || stderr != "" {
		t.Fatalf("want the note on the guest wifi, got code %d, %s%s", code, stdout, stderr)
	}
	keys := shownKeys(notices)
	want := "New keys, shown this one time:\n  editor   " + keys["editor"] + "\n  owner    " + keys["owner"] + "\n  reader   " + keys["reader"] + "\n"
	if len(keys) != 3 || want != notices {
		t.Errorf("want three keys and the notice\n%s, got %d keys and\n%s", want, len(keys), notices)
	}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for name, key := range keys {
			if bytes.Contains(data, []byte(key)) {
				t.Errorf("want no key kept, but %s holds the %s's", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	if _, _, notices, _ := inProcess(t, arguments...); notices != "" {
		t.Errorf("want nothing said at the second run, got %s", notices)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := []string{"--db", filepath.Join(folder, "notes.db")}
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // what they hold
	}{
		{"list as reader", []string{"list", "--as", "reader"}, 0, "notes.search", ""},
		{"call as editor", []string{"call", "notes.create", `{"title":"From a script"}`, "--as", "editor"}, 0, `"version":1`, ""},
		{"call without permission", []string{"call", "notes.create", `{"title":"x"}`, "--as", "reader"}, 3, "", `"code":"forbidden"`},
		{"call for nobody", []string{"call", "notes.search", `{"query":"x"}`}, 3, "", "--as"},
		{"conflict", []string{"call", "notes.update", `{"id":1,"version":9,"title":"x"}`, "--as", "editor"}, 5, "", `"details":{"version":1}`},
		{"purge shows what would go, and wants it confirmed", []string{"call", "notes.purge", `{"tag":"trash"}`, "--as", "editor"}, 5, "", `"title":"Old meeting room bookings"`},
		{"unknown name", []string{"call", "notes.serach", `{}`, "--as", "editor"}, 4, "", "notes.search"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, _, stderr := inProcess(t, append(tt.args, files...)...)
			if tt.code != code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("want code %d, output with %q, errors with %q; got %d, %s, %s", tt.code, tt.stdout, tt.stderr, code, stdout, stderr)
			}
		})
	}
}

// TestDefaultFiles holds that without flags the files are in the cache folder.
func TestDefaultFiles(t *testing.T) {
	cache := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} { // one of them per system
		t.Setenv(name, cache)
	}
	if code, _, _, stderr := inProcess(t, "list", "--as", "reader"); code != 0 {
		t.Fatalf("want the list, got code %d: %s", code, stderr)
	}
	found, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.db", "keyring"} {
		if _, err := os.Stat(filepath.Join(found, "ambit-notes", name)); err != nil {
			t.Error(err)
		}
	}
}

// Each database has checkpoints of its own: another one's would say that the end of
// its record has been cut off.
func TestDatabasesHaveCheckpointsOfTheirOwn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, file := range []string{"a.db", "b.db"} {
		database := filepath.Join(folder, file)
		for range map[string]int{"a.db": 5, "b.db": 2}[file] {
			if code, _, _, stderr := inProcess(t, "call", "notes.get", `{"id":28}`, "--as", "reader", "--db", database); code != 0 {
				t.Fatal(stderr)
			}
		}
		if code, stdout, _, stderr := inProcess(t, "audit", "verify", "--as", "owner", "--db", database); code != 0 || !strings.Contains(stdout, `"findings":[]`) {
			t.Errorf("%s: want a record that verifies, got code %d, %s%s", file, code, stdout, stderr)
		}
	}
	same := flags{database: "/d/notes.db", databaseURL: "postgres://a:one@host/notes"}.checkpoints()
	if same != (flags{database: "/d/notes.db", databaseURL: "postgres://b:two@host/notes"}).checkpoints() ||
		same == (flags{database: "/d/notes.db", databaseURL: "postgres://a:one@host/other"}).checkpoints() {
		t.Error("want one file for each PostgreSQL database, whoever logs in")
	}
}
