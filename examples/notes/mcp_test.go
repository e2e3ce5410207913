package main

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

var (
	readerTools = []string{"notes_export", "notes_get", "notes_search"}
	editorTools = []string{"notes_create", "notes_export", "notes_get", "notes_import", "notes_publish", "notes_purge", "notes_search", "notes_tag", "notes_update"}
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
			// Closing the session ends the process, after the test's context.
			command := exec.Command(built(t), "mcp", "--as", tt.as, "--db", filepath.Join(folder, "notes.db"))
			command.Stderr = t.Output()
			session := connect(t, &mcp.CommandTransport{Command: command, TerminateDuration: time.Hour}, nil)
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
	const many = 300
	reports := make(chan mcp.ProgressNotificationParams, many)
	session := connect(t, server.transport(t, "editor"), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { reports <- *r.Params },
	})
	params := &mcp.CallToolParams{Name: "notes_import", Arguments: map[string]any{"text": strings.Repeat("# Ostrich\n", many)}}
	params.SetProgressToken("import")
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if result.IsError {
		t.Fatalf("import: %s", textOf(result))
	}
	first := <-reports
	if first.ProgressToken != "import" || first.Progress < 1 || first.Total != many {
		t.Errorf("want progress of %d notes for the token import, got %+v", many, first)
	}
}

// TestImportCanceled cancels an import that is half done, and holds that nothing
// of it stays.
func TestImportCanceled(t *testing.T) {
	t.Parallel()
	host, editor, _ := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, run := host.App().NewRun(ctx, ambit.RunOptions{Principal: editor, Surface: ambit.MCP})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{
		Name:  "notes_import",
		Input: []byte(`{"text":"` + strings.Repeat(`# Ostrich\n`, 100) + `"}`),
		Progress: func(p ambit.Progress) {
			if p.Done == 50 {
				cancel()
			}
		},
	})
	if want, got := ambit.CodeCanceled, ambit.CodeOf(err); want != got {
		t.Errorf("want %s, got %v", want, err)
	}
	found := ambittest.Call(host.As(editor), notes.Search, notes.SearchInput{Query: "ostrich"})
	if len(found.Hits) != 0 {
		t.Errorf("want no ostrich, got %+v", found.Hits)
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
