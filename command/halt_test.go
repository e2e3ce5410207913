package command_test

import (
	"bytes"
	"context"
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
	"github.com/ambit-dev/ambit/store/memory"
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

// released is a form of the switch that somebody resumes.
type released struct {
	form    string
	program command.Program
	flags   []string
	left    func() string // what is still stopped
}

// releases returns a halt file and a store that stop agents and a tenant.
func releases(t *testing.T) []released {
	t.Helper()
	path := haltedBy(t, "agents\ntenant acme\n")
	halts := memory.New().Halts()
	if err := halts.Halt(t.Context(), ambit.Halt{Kind: ambit.HaltAgents}, ambit.Halt{Kind: ambit.HaltTenant, Of: "acme"}); err != nil {
		t.Fatal(err)
	}
	return []released{
		{"file", command.Program{Name: "p"}, []string{"--halt-file", path}, func() string {
			text, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			return string(text)
		}},
		{"store", command.Program{Name: "p", Open: func(context.Context) (*ambit.App, command.Options, error) {
			return newHello(), command.Options{Halts: halts, HaltFile: path}, nil
		}}, []string{"--form", "store"}, func() (lines string) {
			list, err := halts.Read(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, h := range list {
				lines += h.String() + "\n"
			}
			return lines
		}},
	}
}

// resume runs the command at a terminal on which somebody types.
func (r released) resume(t *testing.T, stdin io.Reader) result {
	t.Helper()
	screen := newTerminal("")
	var stdout bytes.Buffer
	args := append([]string{"resume"}, r.flags...)
	if r.form == "file" {
		args = append(args, "--form", "file")
	}
	code := r.program.Run(t.Context(), args, stdin, &stdout, screen)
	return result{code, stdout.String(), screen.String()}
}

// Calls go on once a person has seen what is stopped and said so.
func TestT12_ResumeAsksAPerson(t *testing.T) {
	t.Parallel()
	const question = "Release this? [y]es / [n]o: "
	tables := map[string]string{
		"file":  "FORM  STOPS\nfile  agents\nfile  tenant acme\n",
		"store": "FORM   STOPS\nstore  agents\nstore  tenant acme\n",
	}
	for _, test := range []struct {
		name, typed, said string
		code              int
		left              string
	}{
		{"yes", "y\n", "", 0, ""},
		{"no", "n\n", `{"code":"declined","message":"The person who was asked said no.","hint":"Calls stay stopped."}` + "\n", ambit.CodeDeclined.ExitCode(), "agents\ntenant acme\n"},
		{"end of input", "", "\n" + `{"code":"declined","message":"The person who was asked said no.","hint":"Calls stay stopped."}` + "\n", ambit.CodeDeclined.ExitCode(), "agents\ntenant acme\n"},
	} {
		for _, r := range releases(t) {
			got := r.resume(t, newTerminal(test.typed))
			if diff := cmp.Diff(result{test.code, "", tables[r.form] + question + test.said}, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", r.form, test.name, diff)
			}
			if left := r.left(); left != test.left {
				t.Errorf("%s, %s: want %q still stopped, got %q", r.form, test.name, test.left, left)
			}
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
	for _, r := range releases(t) {
		var once sync.Once
		got := r.resume(t, hesitant{newTerminal("y\n"), func() {
			once.Do(func() {
				if got := run(t.Context(), r.program, append([]string{"halt", "all"}, r.flags...)...); got.Code != 0 {
					t.Errorf("%s: halt: %+v", r.form, got)
				}
			})
		}})
		if got.Code != ambit.CodeConflict.ExitCode() || !strings.Contains(got.Stderr, "More has been stopped in the meantime.") {
			t.Errorf("%s: want a conflict, got %+v", r.form, got)
		}
		if want, got := "agents\ntenant acme\nall\n", r.left(); want != got {
			t.Errorf("%s: want %q still stopped, got %q", r.form, want, got)
		}
	}
}

// misnamed is a form of the switch with a name that is another's.
type misnamed struct {
	ambit.HaltSwitch
	form string
}

func (m misnamed) Form() string { return m.form }

// A store of halts whose form is another's name is refused, whoever works on it.
func TestHaltsHaveAFormOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"", "file", "process", "signal", "self"} {
		program := command.Program{Name: "p", Open: func(context.Context) (*ambit.App, command.Options, error) {
			return newHello(), command.Options{Halts: misnamed{memory.New().Halts(), form}}, nil
		}}
		for _, args := range [][]string{{"call", "greet"}, {"halt", "all"}, {"halts"}} {
			got := run(t.Context(), program, args...)
			if got.Code != 1 || !strings.HasPrefix(got.Stderr, "p: command: the form of command.Options.Halts is \""+form+"\": give it a name of its own") {
				t.Errorf("%v with the form %q: want it refused, got %+v", args, form, got)
			}
		}
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
