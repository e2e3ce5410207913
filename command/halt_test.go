package command_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
)

// haltedBy returns a halt file with that text.
func haltedBy(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "halt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// resume runs the command at a terminal on which somebody types.
func resume(t *testing.T, path string, stdin io.Reader) result {
	t.Helper()
	screen := newTerminal("")
	var stdout bytes.Buffer
	code := command.Program{Name: "p"}.Run(t.Context(), []string{"resume", "--form", "file", "--halt-file", path}, stdin, &stdout, screen)
	return result{code, stdout.String(), screen.String()}
}

// Calls go on once a person has seen what is stopped and said so.
func TestT12_ResumeAsksAPerson(t *testing.T) {
	t.Parallel()
	const (
		table    = "FORM  STOPS\nfile  agents\nfile  tenant acme\n"
		question = "Release this? [y]es / [n]o: "
	)
	for _, test := range []struct {
		name, typed, said string
		code              int
		stays             bool
	}{
		{"yes", "y\n", "", 0, false},
		{"no", "n\n", `{"code":"declined","message":"The person who was asked said no.","hint":"Calls stay stopped."}` + "\n", ambit.CodeDeclined.ExitCode(), true},
		{"end of input", "", "\n" + `{"code":"declined","message":"The person who was asked said no.","hint":"Calls stay stopped."}` + "\n", ambit.CodeDeclined.ExitCode(), true},
	} {
		path := haltedBy(t, "agents\ntenant acme\n")
		got := resume(t, path, newTerminal(test.typed))
		if diff := cmp.Diff(result{test.code, "", table + question + test.said}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if _, err := os.Stat(path); (err == nil) != test.stays {
			t.Errorf("%s: want the file to stay %v, got %v", test.name, test.stays, err)
		}
	}
}

// hesitant is a person who answers only after somebody has done something.
type hesitant struct {
	terminal
	meantime func()
}

func (h hesitant) Read(p []byte) (int, error) {
	h.meantime()
	return h.terminal.Read(p)
}

// What a person says about a list holds for that list.
func TestT12_ResumeReleasesWhatWasShown(t *testing.T) {
	t.Parallel()
	path := haltedBy(t, "agents\n")
	var once sync.Once
	got := resume(t, path, hesitant{newTerminal("y\n"), func() {
		once.Do(func() {
			if got := run(t.Context(), command.Program{Name: "p"}, "halt", "all", "--halt-file", path); got.Code != 0 {
				t.Errorf("halt: %+v", got)
			}
		})
	}})
	if got.Code != ambit.CodeConflict.ExitCode() || !strings.Contains(got.Stderr, "More has been stopped in the meantime.") {
		t.Errorf("want a conflict, got %+v", got)
	}
	text, err := os.ReadFile(path)
	if want := "agents\nall\n"; string(text) != want || err != nil {
		t.Errorf("halt file: want %q, got %q, %v", want, text, err)
	}
}

// Whoever halts at the same time takes nothing from the others, and whoever
// cannot halt is told so.
func TestT23_HaltsAtTheSameTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "halt")
	var halting sync.WaitGroup
	want := make([]string, 8)
	for n := range want {
		want[n] = "tenant " + string(rune('a'+n))
		halting.Go(func() {
			for run(t.Context(), command.Program{Name: "p"}, "halt", "tenant", want[n][7:], "--halt-file", path).Code != 0 {
			}
		})
	}
	halting.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		got[strings.TrimSuffix(line, "\n")] = true
	}
	for _, line := range want {
		if !got[line] {
			t.Errorf("%q is not halted: %s", line, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want the mode 0600, got %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want no other file left, got %v", err)
	}
}
