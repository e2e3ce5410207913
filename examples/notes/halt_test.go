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

// What one process halts in the database stops in the two that serve from it while
// both are at work: no change that begins once a process has read it comes about there.
// It goes on when a person says so. That a switch is read within a second is what
// TestT23_Lease of the package ambit is about.
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
	stop, last, refused := make(chan struct{}), make([]time.Time, len(processes)), make(chan int)
	pause := sync.OnceFunc(func() { close(stop); working.Wait() })
	defer pause()
	for n, s := range processes {
		last[n] = until(s, "").begun // the other may take all that the rate lets through from here on
		working.Go(func() {
			for {
				a, told := create(s), refused
				switch a.code {
				case "":
					last[n], told = a.begun, nil
				case ambit.CodeHalted:
				default:
					told = nil
				}
				select {
				case <-stop:
					return
				case told <- n:
				default:
				}
			}
		})
	}
	if out, err := exec.CommandContext(t.Context(), built(t), command(append([]string{"halt", "changes"}, args...)...)...).CombinedOutput(); err != nil {
		t.Fatalf("halt: %v: %s", err, out)
	}
	obeyed := make([]time.Time, len(processes))
	for n, s := range processes {
		s.says(t, `(halt switch form=store stops=\[changes\])`)
		obeyed[n] = time.Now()
	}
	for times := make([]int, len(processes)); slices.Min(times) < 10; { // and both go on
		times[<-refused]++
	}
	pause()
	for n, s := range processes {
		if last[n].After(obeyed[n]) {
			t.Errorf("process %d: want no change that begins after it has read the halt, got one %s later", n, last[n].Sub(obeyed[n]))
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
