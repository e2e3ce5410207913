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

// load is how many clients call an instance over and over.
const load = 4

// loaded is an instance that is called over and over.
type loaded struct {
	calling sync.WaitGroup
	stopped chan struct{}

	mu      sync.Mutex
	more    *sync.Cond // after each answer
	answers map[ambit.Code]int
}

// load calls "change" from several clients until it is stopped.
func (i *instance) load() *loaded {
	l := &loaded{stopped: make(chan struct{}), answers: map[ambit.Code]int{}}
	l.more = sync.NewCond(&l.mu)
	for range load {
		l.calling.Go(func() {
			for {
				select {
				case <-l.stopped:
					return
				default:
				}
				code := i.call("change")
				l.mu.Lock()
				l.answers[code]++
				l.mu.Unlock()
				l.more.Broadcast()
			}
		})
	}
	return l
}

// until waits until an answer has come so many times.
func (l *loaded) until(code ambit.Code, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.answers[code] < times {
		l.more.Wait()
	}
}

// stop ends the load and tells how often each answer came.
func (l *loaded) stop() map[ambit.Code]int {
	close(l.stopped)
	l.calling.Wait()
	return l.answers
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

// timeOf returns when a line was logged, up to a millisecond too early.
func timeOf(t *testing.T, line string) time.Time {
	t.Helper()
	_, rest, _ := strings.Cut(line, "time=")
	text, _, _ := strings.Cut(rest, " ")
	at, err := time.Parse("2006-01-02T15:04:05.000Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// A file stops two processes under load: from when a process has read it nothing
// starts there but what was on its way. That it is read within a second is what
// TestT23_Lease is about. Removing it releases what it stopped, and not what a signal
// stops.
func TestT23_HaltUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "halt")
	instances := []*instance{serveLoaded(t, path), serveLoaded(t, path)}
	var loads []*loaded
	ends := make(chan ambit.Code)
	for _, i := range instances {
		l := i.load()
		loads = append(loads, l)
		l.until("", 1)
		go func() { ends <- i.call("work") }()
		for name := ""; name != "work"; {
			name, _ = startOf(t, <-i.starts)
		}
	}

	if out, err := exec.CommandContext(t.Context(), "loaded", "halt", "changes", "--halt-file", path).CombinedOutput(); err != nil {
		t.Fatalf("halt: %v: %s", err, out)
	}
	for range instances {
		if want, got := ambit.CodeCanceled, <-ends; want != got {
			t.Errorf("the call under way: want %q, got %q", want, got)
		}
	}
	for n, i := range instances {
		obeyed := timeOf(t, i.await("form=file", "stops=[changes]")).Add(time.Millisecond)
		loads[n].until(ambit.CodeHalted, 100)
		answers := loads[n].stop()
		if len(answers) > 3 || len(answers) == 3 && answers[ambit.CodeCanceled] == 0 {
			t.Errorf("instance %d: want successes and then halted, got %v", n, answers)
		}
		if code := i.call("look"); code != "" {
			t.Errorf("instance %d: a read: want success, got %q", n, code)
		}
		late := 0
		for name, at := startOf(t, <-i.starts); name != "look"; name, at = startOf(t, <-i.starts) {
			if at.After(obeyed) {
				late++
			}
		}
		if late > load {
			t.Errorf("instance %d: want no more than the %d calls that were on their way to start after the halt, got %d", n, load, late)
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
