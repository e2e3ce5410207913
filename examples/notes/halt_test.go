package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// answered is what came of a call.
type answered struct {
	begun time.Time
	code  ambit.Code // "": it worked
}

// call calls a capability of a serving process.
func (s *serving) call(client *http.Client, key, name, input string) (a answered) {
	a.begun = time.Now()
	request, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/api/"+name, strings.NewReader(input))
	if err != nil {
		a.code = ambit.Code(err.Error())
		return a
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		a.code = ambit.Code(err.Error())
		return a
	}
	defer response.Body.Close()
	var answer struct{ Error struct{ Code ambit.Code } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		a.code = ambit.Code(err.Error())
		return a
	}
	a.code = answer.Error.Code
	return a
}

// What one process halts in the database stops in the two that serve from it
// within a second, while both are at work, and goes on when a person says so.
func TestHaltOfTwoProcesses(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		haltOfTwoProcesses(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		haltOfTwoProcesses(t, "--database-url", databases.Database(t))
	})
}

func haltOfTwoProcesses(t *testing.T, args ...string) {
	t.Helper()
	folder, client := t.TempDir(), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)
	first := serveNotes(t, folder, args...)
	key := first.keys["editor"]
	processes := []*serving{first, serveNotes(t, folder, args...)}
	create := func(s *serving) answered { return s.call(client, key, "notes/create", `{"title":"One of many"}`) }
	until := func(s *serving, code ambit.Code) answered {
		t.Helper()
		a := create(s)
		for ; a.code != code; a = create(s) {
			if !slices.Contains([]ambit.Code{"", ambit.CodeHalted, ambit.CodeCanceled, ambit.CodeRateLimited}, a.code) {
				t.Fatalf("a call: %s", a.code)
			}
		}
		return a
	}
	command := func(args ...string) []string { return append(args, "--db", filepath.Join(folder, "notes.db")) }

	var working sync.WaitGroup
	stop, last := make(chan struct{}), make([]time.Time, len(processes))
	pause := sync.OnceFunc(func() { close(stop); working.Wait() })
	defer pause()
	for n, s := range processes {
		last[n] = until(s, "").begun // the other may take all that the rate lets through from here on
		working.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if a := create(s); a.code == "" {
					last[n] = a.begun
				}
			}
		})
	}
	if out, err := exec.CommandContext(t.Context(), built(t), command(append([]string{"halt", "changes"}, args...)...)...).CombinedOutput(); err != nil {
		t.Fatalf("halt: %v: %s", err, out)
	}
	thrown := time.Now()
	for _, s := range processes {
		until(s, ambit.CodeHalted)
	}
	for time.Since(thrown) < 1500*time.Millisecond {
		create(processes[0]) // and the others go on
	}
	pause()
	for n, s := range processes {
		if after := last[n].Sub(thrown); after > time.Second {
			t.Errorf("process %d: want the last change to begin within a second of the halt, got %s", n, after)
		}
		if a := s.call(client, key, "notes/get", `{"id":28}`); a.code != "" {
			t.Errorf("process %d: a read: want success, got %q", n, a.code)
		}
	}

	want := "FORM   STOPS\nstore  changes\nRelease this? [y]es / [n]o: y\n"
	if got := atTerminal(t, "go run ./examples/notes resume --form store", "", command(args...)...); got != want {
		t.Errorf("resume: want %q, got %q", want, got)
	}
	for _, s := range processes {
		until(s, "")
	}
}
