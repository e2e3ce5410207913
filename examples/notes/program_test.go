package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/internal/postgrestest"
)

// buildFolder is where the tests' program is built; TestMain makes and removes it.
var buildFolder string

// databases is the PostgreSQL server of the tests.
var databases postgrestest.Shared

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "ambit-notes")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	buildFolder = folder
	code := leaktest.Patient(withDatabases{m}).Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// withDatabases are tests at whose end the PostgreSQL server ends.
type withDatabases struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (m withDatabases) Run() int {
	code := m.M.Run()
	if err := databases.Stop(); err != nil && code == 0 {
		code = 1
	}
	return code
}

// buildOnce builds the programs of this folder and of the issuer beside it.
var buildOnce = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "build", "-o", buildFolder+"/", ".", "../issuer").CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
})

// built returns the path of the built notes program.
func built(t *testing.T) string { return builtAs(t, "notes") }

// builtAs returns the path of a built program.
func builtAs(t *testing.T, name string) string {
	t.Helper()
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(buildFolder, name)
}

// serving is one process that serves.
type serving struct {
	addr   string
	keys   map[string]string // name to key, as far as the process has shown them
	output *output
	ended  chan struct{} // closed then
}

// serveNotes starts the notes program on a free port, with its files in folder.
func serveNotes(t *testing.T, folder string, args ...string) *serving {
	t.Helper()
	args = append([]string{"--addr", "127.0.0.1:0", "--db", filepath.Join(folder, "notes.db")}, args...)
	s := listen(t, exec.CommandContext(t.Context(), built(t), args...))
	s.keys = shownKeys(s.output.String())
	return s
}

// shownKeys finds the keys that a first run has shown, by name.
func shownKeys(notices string) map[string]string {
	keys := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^  (\w+) +(ambit_\w+)$`).FindAllStringSubmatch(notices, -1) {
		keys[match[1]] = match[2]
	}
	return keys
}

// listen starts a program that serves and waits until it says where. The end of
// the test interrupts it, and it has to end cleanly then.
func listen(t *testing.T, command *exec.Cmd) *serving {
	t.Helper()
	s := &serving{output: &output{listening: make(chan string, 1), more: make(chan struct{}, 1)}, ended: make(chan struct{})}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stdout, command.Stderr = s.output, s.output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = command.Wait() // the exit code below says more than this error
		close(s.ended)
	}()
	t.Cleanup(func() {
		<-s.ended // the test's context has ended
		if code := command.ProcessState.ExitCode(); code != 0 {
			t.Errorf("want exit code 0 after an interrupt, got %d; the program wrote:\n%s", code, s.output)
		}
	})
	select {
	case s.addr = <-s.output.listening:
	case <-s.ended:
		t.Fatalf("the program ended before it listened; it wrote:\n%s", s.output)
	}
	return s
}

// says waits until the program has written what a pattern finds, and returns the
// part in parentheses.
func (s *serving) says(t *testing.T, pattern string) string {
	t.Helper()
	for {
		if match := regexp.MustCompile(pattern).FindStringSubmatch(s.output.String()); match != nil {
			return match[1]
		}
		select {
		case <-s.output.more:
		case <-s.ended:
			t.Fatalf("want %s; the program ended and wrote:\n%s", pattern, s.output)
		}
	}
}

// output keeps what a process writes and finds the address in it.
type output struct {
	mu        sync.Mutex
	text      bytes.Buffer
	found     bool
	listening chan string
	more      chan struct{} // holds one where something was written
}

// Write takes what the process wrote.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if match := regexp.MustCompile(`http://([0-9.]+:[0-9]+)\b[^\n]*\n`).FindSubmatch(o.text.Bytes()); match != nil && !o.found {
		o.found = true
		o.listening <- string(match[1])
	}
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// String returns all that the process has written.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
