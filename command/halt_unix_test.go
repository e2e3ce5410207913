//go:build unix

package command_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// instance is a process of the loaded program that serves.
type instance struct {
	t       *testing.T
	process *os.Process
	address string
	starts  chan string // what it writes to standard output: a call that started
	said    chan string // what it writes to standard error
	client  *http.Client
}

// serveLoaded starts an instance that obeys a halt file. It ends with the test.
func serveLoaded(t *testing.T, haltFile string) *instance {
	t.Helper()
	c := exec.CommandContext(t.Context(), "loaded", "serve", "--addr", "127.0.0.1:0", "--halt-file", haltFile)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	i := &instance{
		t: t, process: c.Process, starts: make(chan string, 1<<20), said: make(chan string, 1<<10),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
	}
	var reading sync.WaitGroup
	for r, lines := range map[io.Reader]chan string{stdout: i.starts, stderr: i.said} {
		reading.Go(func() {
			defer close(lines)
			for scanner := bufio.NewScanner(r); scanner.Scan(); {
				lines <- scanner.Text()
			}
		})
	}
	t.Cleanup(func() {
		i.client.CloseIdleConnections()
		reading.Wait()
		if err := c.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the program ended: %v", err)
		}
	})
	rest, _ := strings.CutPrefix(i.await("listening addr="), "listening addr=")
	i.address, _, _ = strings.Cut(rest, " ")
	return i
}

// await returns the next line of standard error that has all of these words.
func (i *instance) await(words ...string) string {
	i.t.Helper()
next:
	for line := range i.said {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		return line
	}
	i.t.Fatalf("want a line with %q, and the program ended", words)
	return ""
}

// call makes a call and returns the code of its answer, "" for success.
func (i *instance) call(name string) ambit.Code {
	response, err := i.client.Post("http://"+i.address+"/api/"+name, "application/json", strings.NewReader("{}"))
	if err != nil {
		return ambit.Code(err.Error())
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Error struct{ Code ambit.Code } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return ambit.Code(err.Error())
	}
	return answer.Error.Code
}

// load calls "change" from several clients until it is stopped, and tells how
// often each answer came.
func (i *instance) load(clients int) (stop func() map[ambit.Code]int) {
	var mu sync.Mutex
	answers := map[ambit.Code]int{}
	var calling sync.WaitGroup
	stopped := make(chan struct{})
	for range clients {
		calling.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				code := i.call("change")
				mu.Lock()
				answers[code]++
				mu.Unlock()
			}
		})
	}
	return func() map[ambit.Code]int {
		close(stopped)
		calling.Wait()
		return answers
	}
}

// startOf returns when the call of a line of standard output started.
func startOf(t *testing.T, line string) (name string, at time.Time) {
	t.Helper()
	name, nanoseconds, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(nanoseconds, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return name, time.Unix(0, n)
}

// A file stops two processes under load within a second; removing it releases
// what it stopped, and not what a signal stops.
func TestT23_HaltUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "halt")
	instances := []*instance{serveLoaded(t, path), serveLoaded(t, path)}
	var stops []func() map[ambit.Code]int
	ends := make(chan ambit.Code)
	for _, i := range instances {
		stops = append(stops, i.load(4))
		go func() { ends <- i.call("work") }()
		for name, seen := "", map[string]bool{}; !seen["work"] || !seen["change"]; seen[name] = true {
			name, _ = startOf(t, <-i.starts)
		}
	}

	if out, err := exec.CommandContext(t.Context(), "loaded", "halt", "changes", "--halt-file", path).CombinedOutput(); err != nil {
		t.Fatalf("halt: %v: %s", err, out)
	}
	thrown := time.Now()
	for range instances {
		if want, got := ambit.CodeCanceled, <-ends; want != got {
			t.Errorf("the call under way: want %q, got %q", want, got)
		}
	}
	for time.Since(thrown) < 1500*time.Millisecond {
		instances[0].call("change") // and the load goes on
	}
	for n, i := range instances {
		answers := stops[n]()
		if answers[""] == 0 || answers[ambit.CodeHalted] == 0 || len(answers) > 3 || len(answers) == 3 && answers[ambit.CodeCanceled] == 0 {
			t.Errorf("instance %d: want successes and then halted, got %v", n, answers)
		}
		if code := i.call("look"); code != "" {
			t.Errorf("instance %d: a read: want success, got %q", n, code)
		}
		for name, at := startOf(t, <-i.starts); name != "look"; name, at = startOf(t, <-i.starts) {
			if at.After(thrown.Add(time.Second)) {
				t.Errorf("instance %d: %s started %s after the halt", n, name, at.Sub(thrown))
			}
		}
	}

	signaled, other := instances[0], instances[1]
	throw := func(s syscall.Signal, words ...string) {
		t.Helper()
		if err := signaled.process.Signal(s); err != nil {
			t.Fatal(err)
		}
		signaled.await(append(words, "form=signal")...)
	}
	answers := func(want map[string]ambit.Code) {
		t.Helper()
		got := map[string]ambit.Code{}
		for n, i := range instances {
			for _, name := range []string{"look", "change"} {
				got[fmt.Sprintf("%s %d", name, n)] = i.call(name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	}
	throw(syscall.SIGUSR1, "stops=[all]")
	answers(map[string]ambit.Code{"look 0": ambit.CodeHalted, "change 0": ambit.CodeHalted, "look 1": "", "change 1": ambit.CodeHalted})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	signaled.await("form=file", "stops=[]")
	other.await("form=file", "stops=[]")
	answers(map[string]ambit.Code{"look 0": ambit.CodeHalted, "change 0": ambit.CodeHalted, "look 1": "", "change 1": ""})
	throw(syscall.SIGUSR2, "stops=[]")
	answers(map[string]ambit.Code{"look 0": "", "change 0": "", "look 1": "", "change 1": ""})
}
