package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestHello builds the program of the README in a module of its own, as a
// reader would, and asks it over HTTP and with the official MCP client.
func TestHello(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	framework, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	module := fmt.Sprintf("module hello\n\ngo 1.26\n\nrequire github.com/ambit-dev/ambit v0.0.0\n\nreplace github.com/ambit-dev/ambit => %q\n", framework)
	for name, text := range map[string]string{"main.go": blocks(t)["hello"], "go.mod": module, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(folder, "hello.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", binary, ".")
	build.Dir = folder
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "PWD="+folder)
	run(t, build)

	addr := listen(t, exec.CommandContext(t.Context(), binary, "--addr", "127.0.0.1:0")).addr

	t.Run("HTTP", func(t *testing.T) {
		tests := []struct {
			name, body, want string
			status           int
		}{
			{"a greeting", `{"name":"Ada"}`, `{"ok":true,"data":{"text":"Hello, Ada"}}`, http.StatusOK},
			{"no name", `{}`, `"code":"invalid_input"`, http.StatusBadRequest},
		}
		for _, tt := range tests {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/api/greet", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := client(t).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			got, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if tt.status != response.StatusCode || !strings.Contains(string(got), tt.want) {
				t.Errorf("%s: want %d with %s, got %d with %s", tt.name, tt.status, tt.want, response.StatusCode, got)
			}
		}
	})
	t.Run("MCP", func(t *testing.T) {
		session := connect(t, &mcp.StreamableClientTransport{Endpoint: "http://" + addr + "/mcp", HTTPClient: client(t)}, nil)
		if diff := cmp.Diff([]string{"greet"}, toolNames(t, session)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ada"}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(map[string]any{"text": "Hello, Ada"}), result.StructuredContent); diff != "" {
			t.Errorf("structured content (-want +got):\n%s", diff)
		}
	})
}
