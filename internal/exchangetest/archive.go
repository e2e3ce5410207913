package exchangetest

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Run goes through the archives that a pattern matches, each in a test of its name,
// at the same time as the others. Of is the handler that answers in the one of a
// name.
func (c Client) Run(t *testing.T, pattern string, of func(t *testing.T, name string) http.Handler) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Play(t, file, Script{Handler: of(t, name)})
		})
	}
}

// Script is what it takes to play an archive.
type Script struct {
	// Handler answers.
	Handler http.Handler
	// Blanks are what differs from run to run.
	Blanks []Blank
	// Steps are what happens between requests, by the name of the kind. The step
	// "wait" lets time pass and is always there.
	Steps map[string]func(text string)
}

// Blank is a part of answers that differs from run to run.
type Blank struct {
	// Found matches it, in one group where there is more in the match than it.
	Found *regexp.Regexp
	// Name takes its place.
	Name string
	// Returned puts the one that was given last into the place of the name in
	// requests.
	Returned bool
}

// Play goes through an archive from top to bottom. Its files are "NAME: request",
// with the answer that has to come in "NAME: answer", or "NAME: KIND" for a step of
// the kind; its comment says what they have in common.
func (c Client) Play(t *testing.T, file string, s Script) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	last := make(map[string]string)
	var files []txtar.File
	for _, part := range archive.Files {
		name, kind, _ := strings.Cut(part.Name, ": ")
		text := strings.TrimSpace(string(part.Data))
		switch step := s.Steps[kind]; {
		case kind == "answer":
			continue
		case kind == "request":
			request := string(part.Data)
			for blank, value := range last {
				request = strings.ReplaceAll(request, blank, value)
			}
			got := c.Answer(t, s.Handler, []byte(request))
			for _, blank := range s.Blanks {
				got = blank.fill(got, last)
			}
			files = append(files, part, txtar.File{Name: name + ": answer", Data: []byte(got)})
			continue
		case kind == "wait":
			pause, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(pause)
		case step == nil:
			t.Fatalf("%s: %q is no request, no answer and no step", file, part.Name)
		default:
			step(text)
		}
		files = append(files, part)
	}
	archive.Files = files
	got := string(txtar.Format(archive))
	if c.Update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got, rewrite with -update):\n%s", file, diff)
	}
}

// fill puts the name of the blank into its places in an answer, and notes what it
// was.
func (b Blank) fill(answer string, last map[string]string) string {
	var text strings.Builder
	end := 0
	for _, at := range b.Found.FindAllStringSubmatchIndex(answer, -1) {
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		if b.Returned && end == 0 {
			last[b.Name] = answer[from:to]
		}
		text.WriteString(answer[end:from] + b.Name)
		end = to
	}
	return text.String() + answer[end:]
}
