package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
)

// dialog is a client that speaks to ServeStdio over pipes.
type dialog struct {
	in    *io.PipeWriter
	lines *bufio.Scanner
	end   chan error
}

func start(t *testing.T, ctx context.Context, app *ambit.App) *dialog {
	t.Helper()
	server := newServer(t, app, mcp.Options{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	d := &dialog{in: toServer, lines: bufio.NewScanner(fromServer), end: make(chan error, 1)}
	d.lines.Buffer(nil, 4<<20)
	go func() {
		d.end <- server.ServeStdio(ctx, in, out, person("editor"))
		_ = out.Close()
	}()
	return d
}

func (d *dialog) send(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(d.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *dialog) receive(t *testing.T) string {
	t.Helper()
	if !d.lines.Scan() {
		t.Fatalf("no more lines: %v", d.lines.Err())
	}
	return d.lines.Text()
}

func TestServeStdio(t *testing.T) {
	t.Parallel()
	d := start(t, t.Context(), fixture(ambit.Options{}))
	for _, c := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{strings.Repeat("a", 2<<20), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The message is longer than the server takes."}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"text"}}`, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"plain \"text\"\n"}]}}`},
	} {
		d.send(t, c.send)
		if diff := cmp.Diff(c.want, d.receive(t)); diff != "" {
			t.Errorf("answer to %.100q (-want +got):\n%s", c.send, diff)
		}
	}
	_ = d.in.Close()
	if err := <-d.end; err != nil {
		t.Errorf("the end of the input: want nil, got %v", err)
	}
}

// TestServeStdioFinishesCalls shows that calls under way at the end of the input
// are answered, and that no two lines mix.
func TestServeStdioFinishesCalls(t *testing.T) {
	t.Parallel()
	const calls = 32
	var requests, want []string
	for i := range calls {
		n := strconv.Itoa(i)
		text := strings.Repeat(n+" ", 2000)
		requests = append(requests, `{"jsonrpc":"2.0","id":`+n+`,"method":"tools/call","params":{"name":"raw","arguments":{"a":"`+text+`"}}}`+"\n")
		want = append(want, `{"jsonrpc":"2.0","id":`+n+`,"result":{"content":[{"type":"text","text":"{\"a\":\"`+text+`\"}"}]}}`)
	}
	var out strings.Builder
	server := newServer(t, fixture(ambit.Options{}), mcp.Options{})
	if err := server.ServeStdio(t.Context(), strings.NewReader(strings.Join(requests, "")), &out, person("editor")); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses (-want +got):\n%s", diff)
	}
}

func TestServeStdioCancellation(t *testing.T) {
	t.Parallel()
	app, entered := waiting()
	d := start(t, t.Context(), app)
	d.send(t, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"wait"}}`)
	<-entered
	d.send(t,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`,
		`{"jsonrpc":"2.0","id":"b","method":"ping"}`)
	if diff := cmp.Diff(`{"jsonrpc":"2.0","id":"b","result":{}}`, d.receive(t)); diff != "" {
		t.Errorf("first line (-want +got):\n%s", diff)
	}
	_ = d.in.Close()
	if err := <-d.end; err != nil {
		t.Error(err)
	}
	if d.lines.Scan() {
		t.Errorf("the canceled call was answered: %s", d.lines.Text())
	}
}

// TestServeStdioBusy fills every place and shows that one more call is refused
// while other messages are answered.
func TestServeStdioBusy(t *testing.T) {
	t.Parallel()
	app, entered := waiting()
	ctx, cancel := context.WithCancel(t.Context())
	d := start(t, ctx, app)
	for i := range 32 {
		d.send(t, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":"tools/call","params":{"name":"wait"}}`)
		<-entered
	}
	d.send(t, `{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"wait"}}`)
	if got := d.receive(t); !strings.Contains(got, `"id":"more"`) || !strings.Contains(got, `"code":"rate_limited"`) {
		t.Errorf("want the last call refused, got %s", got)
	}
	d.send(t, `{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	if got := d.receive(t); got != `{"jsonrpc":"2.0","id":"ping","result":{}}` {
		t.Errorf("want an answer to ping, got %s", got)
	}
	cancel()
	answers := 0
	for d.lines.Scan() {
		if !strings.Contains(d.lines.Text(), `"code":"canceled"`) {
			t.Errorf("want a canceled call, got %s", d.lines.Text())
		}
		answers++
	}
	if answers != 32 {
		t.Errorf("want 32 answers after the end, got %d", answers)
	}
	if err := <-d.end; !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
	if _, err := d.in.Write(nil); err == nil {
		t.Error("the input was left open")
	}
}

// broken is a writer whose reader has gone, and a reader that fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestServeStdioBrokenStreams(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), mcp.Options{})
	if err := server.ServeStdio(t.Context(), broken{}, io.Discard, person("editor")); !errors.Is(err, errBroken) {
		t.Errorf("a reader that fails: want %v, got %v", errBroken, err)
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text"}}` + "\n")
	if err := server.ServeStdio(t.Context(), in, broken{}, person("editor")); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: want %v, got %v", errBroken, err)
	}
}
