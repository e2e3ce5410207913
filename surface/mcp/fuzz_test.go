package mcp_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ambit-dev/ambit/surface/mcp"
)

// FuzzHandle shows that no bytes make the server panic, and that whatever it
// answers is JSON-RPC. Its seeds are the bodies of testdata/exchanges.
func FuzzHandle(f *testing.F) {
	files, err := filepath.Glob("testdata/exchanges/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			_, body, found := strings.Cut(string(part.Data), "\n\n")
			if found && strings.HasSuffix(part.Name, ": request") && !strings.Contains(body, "*(") {
				f.Add([]byte(strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "META", modernMeta)))
			}
		}
	}
	server := newServer(f, fixture(unlimited()), mcp.Options{})
	f.Fuzz(func(t *testing.T, message []byte) {
		session := server.NewSession(person("editor"), func(said []byte) { checkMessage(t, said) })
		response := session.Handle(t.Context(), message)
		switch {
		case response == nil && !json.Valid(message):
			t.Errorf("no answer to what is no JSON")
		case response == nil:
		case response[0] == '[':
			var batch []json.RawMessage
			if err := json.Unmarshal(response, &batch); err != nil || len(batch) == 0 {
				t.Fatalf("want an array of responses, got %s", response)
			}
			for _, one := range batch {
				checkMessage(t, one)
			}
		default:
			checkMessage(t, response)
		}
	})
}

// checkMessage holds a message of the server to JSON-RPC 2.0.
func checkMessage(t *testing.T, text []byte) {
	t.Helper()
	var m struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Method  string `json:"method"`
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("want a message, got %v in %q", err, text)
	}
	outcomes := 0
	for _, there := range []bool{m.Method != "", m.Result != nil, m.Error != nil} {
		if there {
			outcomes++
		}
	}
	switch m.ID.(type) {
	case nil, string, float64:
	default:
		t.Errorf("the id is %T in %s", m.ID, text)
	}
	if m.Version != "2.0" || outcomes != 1 || m.Error != nil && (m.Error.Code == 0 || m.Error.Message == "") {
		t.Errorf("want a notification, a result or an error, got %s", text)
	}
	if strings.ContainsAny(string(text), "\r\n") {
		t.Errorf("a line break in %q", text)
	}
}
