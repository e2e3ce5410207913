package main

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	readerTools = []string{"notes_export", "notes_get", "notes_search"}
	editorTools = []string{"notes_create", "notes_export", "notes_get", "notes_import", "notes_search", "notes_tag", "notes_update"}
)

// TestStdio speaks MCP with the program over its standard input and output, as
// a desktop client does.
func TestStdio(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tests := []struct {
		as     string
		tools  []string
		create string // error code; empty: success
	}{
		{"reader", readerTools, "forbidden"},
		{"editor", editorTools, ""},
	}
	for _, tt := range tests {
		t.Run(tt.as, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), built(t), "mcp", "--as", tt.as,
				"--db", filepath.Join(folder, "notes.db"), "--keys", filepath.Join(folder, "keys.json"))
			command.Stderr = t.Output()
			session := connect(t, &mcp.CommandTransport{Command: command}, nil)
			if diff := cmp.Diff(tt.tools, toolNames(t, session)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			found, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "notes_search", Arguments: map[string]any{"query": "lentils"}})
			if err != nil {
				t.Fatal(err)
			}
			if found.IsError || !strings.Contains(textOf(found), "lentil soup") {
				t.Errorf("want the soup found, got %s", textOf(found))
			}
			created, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "notes_create", Arguments: map[string]any{"title": "From stdio"}})
			if err != nil {
				t.Fatal(err)
			}
			if created.IsError != (tt.create != "") || !strings.Contains(textOf(created), tt.create) {
				t.Errorf("want code %q, got isError %v: %s", tt.create, created.IsError, textOf(created))
			}
		})
	}
}

// TestImportReportsProgress imports many notes over MCP with a client that
// listens to progress.
func TestImportReportsProgress(t *testing.T) {
	t.Parallel()
	server := serveNotes(t, t.TempDir())
	var last atomic.Int64
	session := connect(t, server.transport(t, "editor"), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			last.Store(int64(r.Params.Progress))
		},
	})
	params := &mcp.CallToolParams{Name: "notes_import", Arguments: map[string]any{"text": strings.Repeat("# Ostrich\n", 300)}}
	params.SetProgressToken("import")
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if result.IsError {
		t.Fatalf("import: %s", textOf(result))
	}
	if last.Load() == 0 {
		t.Error("want progress reported, got none")
	}
}

// TestImportCanceledByClient cancels an import over MCP once it reports
// progress, and holds that nothing of it stays.
func TestImportCanceledByClient(t *testing.T) {
	t.Parallel()
	server := serveNotes(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session := connect(t, server.transport(t, "editor"), &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { cancel() },
	})
	params := &mcp.CallToolParams{Name: "notes_import", Arguments: map[string]any{"text": strings.Repeat("# Ostrich\n"+strings.Repeat("long legs ", 80)+"\n", 1000)}}
	params.SetProgressToken("import")
	if result, err := session.CallTool(ctx, params); err == nil {
		t.Fatalf("want the call to fail, got %s", textOf(result))
	}
	found, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "notes_search", Arguments: map[string]any{"query": "ostrich"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(found); found.IsError || strings.Contains(got, "Ostrich") {
		t.Errorf("want no ostrich, got %s", got)
	}
}

// connect opens a session with the official client, which ends with the test.
func connect(t *testing.T, transport mcp.Transport, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "notes-test", Version: "1.0.0"}, options).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return session
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// textOf joins the text content of a result.
func textOf(result *mcp.CallToolResult) string {
	var b strings.Builder
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// client returns an HTTP client that leaves no connection open after the test.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// transport reaches a served program with the key of that name.
func (s *serving) transport(t *testing.T, as string) mcp.Transport {
	plain := client(t)
	plain.Transport = bearer{key: s.keys[as], next: plain.Transport}
	return &mcp.StreamableClientTransport{Endpoint: "http://" + s.addr + "/mcp", HTTPClient: plain}
}

// bearer adds a key to each request.
type bearer struct {
	key  string
	next http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+b.key)
	return b.next.RoundTrip(request)
}
