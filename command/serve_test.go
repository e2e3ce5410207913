package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/serve"
)

// TestServe serves on a free port, by name and by default, until it is told to
// stop.
func TestServe(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"by default": {"--addr", "127.0.0.1:0"},
		"by name":    {"serve", "--addr", "127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			said, stderr := io.Pipe()
			bound := make(chan net.Addr, 1)
			options := command.Options{Serve: serve.Options{APIPrefix: "/v1/", Ready: func(a net.Addr) { bound <- a }}}
			code := make(chan int, 1)
			go func() {
				code <- command.Run(ctx, newHello(), options, args, strings.NewReader(""), io.Discard, stderr)
				_ = stderr.Close()
			}()
			lines, address := startup(t, said)
			if want := (<-bound).String(); want != address {
				t.Errorf("announced address: want %s, got %s", want, address)
			}
			want := strings.ReplaceAll(`CAPABILITY   EFFECT  PERMISSION    EXPOSED   PATH       TOOL
greet        read    ambit:public  http,mcp  /v1/greet  greet
secret.word  read    secrets       -         -          -
listening addr=ADDR api=http://ADDR/v1/ mcp=http://ADDR/mcp
`, "ADDR", address)
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("start-up (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(`{"ok":true,"data":{"text":"Hello, Ada"}}`, post(t, "http://"+address+"/v1/greet", `{"name":"Ada"}`)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			stop()
			if got := <-code; got != 0 {
				t.Errorf("exit code: want 0, got %d", got)
			}
		})
	}
}

// startup reads until a server says where it listens.
func startup(t *testing.T, r *io.PipeReader) (lines, address string) {
	t.Helper()
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		lines += scanner.Text() + "\n"
		if rest, ok := strings.CutPrefix(scanner.Text(), "listening addr="); ok {
			address, _, _ = strings.Cut(rest, " ")
			return lines, address
		}
	}
	t.Fatalf("want a line that says where it listens, got:\n%s", lines)
	return "", ""
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Errorf("want JSON, got %s", text)
	}
	return strings.TrimSpace(string(text))
}

// TestMCPStops holds that a server of standard streams stops when it is told to,
// though its client says nothing and stays.
func TestMCPStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stdin, client := io.Pipe()
	heard, stdout := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- command.Run(ctx, newHello(), command.Options{}, []string{"mcp"}, stdin, stdout, io.Discard)
		_ = stdout.Close()
	}()
	if _, err := io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(heard).ReadString('\n')
	if want := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"; want != answer || err != nil {
		t.Errorf("ping: want %s, got %s, %v", want, answer, err)
	}
	stop()
	if got := <-code; got != 0 {
		t.Errorf("exit code: want 0, got %d", got)
	}
}
