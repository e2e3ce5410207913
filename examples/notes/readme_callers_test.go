package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The addresses that the README has its reader use.
const (
	readmeAddress = "127.0.0.1:8080"
	readmeIssuer  = "127.0.0.1:9000"
)

// TestReadmeTokens gets in with access tokens as the README shows.
func TestReadmeTokens(t *testing.T) {
	t.Parallel()
	requireProgram(t, "curl")
	text := blocks(t)
	starts(t, "issuer", "go run ./examples/issuer")
	starts(t, "serve-oauth", "go run ./examples/notes --oauth-issuer http://"+readmeIssuer)
	issuer := listen(t, exec.CommandContext(t.Context(), builtAs(t, "issuer"), "--addr", "127.0.0.1:0"))
	address := freeAddress(t)
	serveNotes(t, t.TempDir(), "--addr", address, "--public-url", "http://"+address, "--oauth-issuer", "http://"+issuer.addr)

	environment := append(os.Environ(), "ADDR="+address)
	as := strings.NewReplacer(address, readmeAddress, issuer.addr, readmeIssuer)
	here := strings.NewReplacer(readmeIssuer, issuer.addr)
	for _, name := range []string{"no-token", "metadata", "with-token", "narrow-token", "wider-token"} {
		compare(t, name+"-answer", as.Replace(shell(t, here.Replace(text["token"]+text[name]), root, environment)))
	}
}

// TestReadmeAgents signs requests as an agent, as the README shows.
func TestReadmeAgents(t *testing.T) {
	t.Parallel()
	requireProgram(t, "curl")
	text := blocks(t)
	starts(t, "serve-agents", "go run ./examples/notes --agents agents.json")
	folder, files := t.TempDir(), t.TempDir()
	here := strings.NewReplacer("go run ./examples/notes", `"$NOTES"`)
	environment := append(os.Environ(), "NOTES="+built(t))
	shell(t, here.Replace(text["agent-key"]), folder, environment)

	server := serveNotes(t, files, "--agents", folder+"/agents.json")
	environment = append(environment, "ADDR="+server.addr, "KEY="+server.keys["editor"])
	// The reader has tagged a note before.
	run(t, exec.CommandContext(t.Context(), built(t), "call", "notes.tag", `{"id":35,"add":["soup"]}`, "--as", "editor", "--db", files+"/notes.db"))
	for _, name := range []string{"unsigned", "signed"} {
		compare(t, name+"-answer", shell(t, here.Replace(text[name]), folder, environment))
	}

	// The same request once more: its sender is told that the signature does not do,
	// and the operator why.
	_, send, _ := strings.Cut(text["signed"], "\ncurl ")
	if got := shell(t, "curl "+send, folder, environment); !strings.Contains(got, "The signature that came with the request does not do.") {
		t.Errorf("want the signature refused, got %s", got)
	}
	if got := server.says(t, `the signature of an agent does not hold because=(\S+) agent=https://agent.example.com`); got != "invalid/replayed" {
		t.Errorf("want a replay in the log, got %s", got)
	}
}

// TestReadmeKeys lists the keys as the README shows.
func TestReadmeKeys(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	command, ok := strings.CutPrefix(strings.TrimSpace(blocks(t)["keys"]), "go run ./examples/notes ")
	if !ok {
		t.Fatalf("want a command through go run, got %q", blocks(t)["keys"])
	}
	compare(t, "keys-answer", run(t, exec.CommandContext(t.Context(), built(t), append(strings.Fields(command), "--db", files+"/notes.db")...)))
}

// freeAddress returns an address of this machine that nobody listens on. A connection
// that has come to it and was closed here first keeps its port from being given to
// anybody who takes just any, for as long as the system remembers it (a minute, on
// Linux), and not from who asks for this one.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	visitor, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer visitor.Close()
	host, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := visitor.Read(make([]byte, 1)); err != io.EOF { // it has heard that this end is closed
		t.Fatalf("want the end, got %v", err)
	}
	return listener.Addr().String()
}
