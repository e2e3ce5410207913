package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeApprovals has each of the three levels give its word, as the README
// shows, and verifies the record of it; on both databases, since nothing else
// changes with them.
func TestReadmeApprovals(t *testing.T) {
	t.Parallel()
	requireProgram(t, "curl")
	const address = "postgres://notes:secret@localhost/notes"
	starts(t, "serve-postgres", "go run ./examples/notes --database-url "+address)
	t.Run("sqlite", func(t *testing.T) {
		readmeApprovals(t)
	})
	t.Run("postgres", func(t *testing.T) {
		readmeApprovals(t, "--database-url", databases.Database(t))
	})
}

func readmeApprovals(t *testing.T, args ...string) {
	t.Helper()
	text, files := blocks(t), t.TempDir()
	server := serveNotes(t, files, args...)
	environment := append(os.Environ(), "ADDR="+server.addr, "KEY="+server.keys["editor"])
	inTerminal := func(name, id string) string {
		return atTerminal(t, text[name], id, append(args, "--db", files+"/notes.db")...)
	}

	asked := shell(t, text["purge"], root, environment)
	compare(t, "purge-answer", asked)
	confirmed := append(environment, "CONFIRMATION="+found(t, asked, `"token":"([^"]+)"`))
	compare(t, "purge-confirmed-answer", shell(t, text["purge-confirmed"], root, confirmed))

	// The Inspector says by its exit code that the answer is an error.
	asked = inspect(t, strings.TrimSpace(text["mcp-purge"])+" || test $? = 5", environment)
	compare(t, "mcp-purge-answer", asked)
	compare(t, "approve-answer", inTerminal("approve", found(t, asked, `"id": "(\w+)"`)))
	compare(t, "mcp-purge-again-answer", inspect(t, text["mcp-purge-again"], environment))

	asked = shell(t, text["publish"], root, environment)
	compare(t, "publish-answer", asked)
	id := found(t, asked, `"id":"(\w+)"`)
	compare(t, "approve-own-answer", inTerminal("approve-own", id))
	compare(t, "approve-other-answer", inTerminal("approve-other", id))
	compare(t, "published-answer", shell(t, text["published"], root, environment))

	compare(t, "verify-answer", inTerminal("verify", ""))
}

// found returns what stands in a text.
func found(t *testing.T, text, pattern string) string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("want %s in\n%s", pattern, text)
	}
	return match[1]
}

// atTerminal runs a command of the program in this process, for a person who says
// yes, and returns what the person sees.
func atTerminal(t *testing.T, command, id string, more ...string) string {
	t.Helper()
	line, ok := strings.CutPrefix(strings.TrimSpace(command), "go run ./examples/notes ")
	if !ok {
		t.Fatalf("want a command through go run, got %q", command)
	}
	screen := &terminal{}
	args := append(strings.Fields(strings.ReplaceAll(line, "$ID", id)), more...)
	program(io.Discard).Run(t.Context(), args, &keyboard{screen: screen, keys: strings.NewReader("y\n")}, screen, screen)
	return screen.String()
}

// terminal shows what is written to it.
type terminal struct{ bytes.Buffer }

// keyboard is what a person types on a terminal, which shows it.
type keyboard struct {
	screen *terminal
	keys   io.Reader
}

// Read takes what was typed.
func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.keys.Read(p)
	k.screen.Write(p[:n])
	return n, err
}

// Stat says that it is a terminal.
func (*terminal) Stat() (fs.FileInfo, error) { return device{}, nil }

// Stat says that it is a terminal.
func (*keyboard) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }
func (device) Sys() any          { return nil }
