package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/serve"
)

var update = flag.Bool("update", false, "write the golden files anew")

// newHost returns the application on a fresh file, and two callers.
func newHost(t *testing.T) (host *ambittest.Host, editor, reader *ambit.Principal) {
	t.Helper()
	return newHostOn(t, "")
}

// newHostOn does so on a PostgreSQL database, where a URL is given.
func newHostOn(t *testing.T, databaseURL string) (host *ambittest.Host, editor, reader *ambit.Principal) {
	t.Helper()
	app, options, err := open(t.Context(), flags{database: filepath.Join(t.TempDir(), "notes.db"), databaseURL: databaseURL}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := options.Close(); err != nil {
			t.Error(err)
		}
	})
	return ambittest.New(t, app), caller("editor"), caller("reader")
}

// caller is somebody with a role.
func caller(role string) *ambit.Principal {
	return &ambit.Principal{Authority: "test", Subject: role, Unscoped: true, Permissions: permissions(role)}
}

// TestCapabilities calls every capability on every way in, as editor and as
// reader, on both databases. The calls of one way follow one another on one
// database.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, input    string
		output         string     // what the output holds; empty: nothing is looked for
		editor, reader ambit.Code // empty: success
	}{
		{name: "notes.search", input: `{"query":"plum cake"}`, output: `"title":"Recipe: plum cake"`},
		{name: "notes.search", input: `{"query":"pineapple"}`, output: `"hits":[]`},
		{name: "notes.search", input: `{"query":"wiki","limit":51}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeInvalidInput},
		{name: "notes.get", input: `{"id":36}`, output: `"found":true`},
		{name: "notes.get", input: `{"id":4711}`, output: `"found":false`},
		{name: "notes.create", input: `{"title":"New note","tags":["idea"]}`, output: `"id":42`, reader: ambit.CodeForbidden},
		{name: "notes.create", input: `{"title":"New note","tags":["No Tag"]}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.create", input: `{"title":" padded "}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.update", input: `{"id":42,"version":1,"body":"text"}`, output: `"version":2`, reader: ambit.CodeForbidden},
		{name: "notes.update", input: `{"id":42,"version":1,"body":"text"}`, editor: ambit.CodeConflict, reader: ambit.CodeForbidden},
		{name: "notes.update", input: `{"id":42,"version":2}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.update", input: `{"id":4711,"version":1,"body":"x"}`, editor: ambit.CodeNotFound, reader: ambit.CodeForbidden},
		{name: "notes.tag", input: `{"id":42,"add":["b"],"remove":["idea"]}`, output: `"tags":["b"],"changed":true`, reader: ambit.CodeForbidden},
		{name: "notes.tag", input: `{"id":42,"add":["b"],"remove":["idea"]}`, output: `"tags":["b"],"changed":false`, reader: ambit.CodeForbidden},
		{name: "notes.tag", input: `{"id":42}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.tag", input: `{"id":42,"add":["c","d"],"remove":["d"]}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.import", input: `{"text":"One\n---\nTwo","format":"text"}`, output: `"ids":[43,44]`, reader: ambit.CodeForbidden},
		{name: "notes.import", input: `{"text":"# One\n# Two"}`, output: `"ids":[45,46]`, reader: ambit.CodeForbidden},
		{name: "notes.import", input: `{"text":"# One\n# "}`, editor: ambit.CodeInvalidInput, reader: ambit.CodeForbidden},
		{name: "notes.export", input: `{"tag":"b"}`, output: `"markdown":"# New note\nTags: b\n\ntext\n\n","exported":1`},
		{name: "notes.purge", input: `{"tag":"trash"}`, editor: ambit.CodeApprovalPending, reader: ambit.CodeForbidden},
		{name: "notes.publish", input: `{"id":35}`, editor: ambit.CodeApprovalPending, reader: ambit.CodeForbidden},
		{name: "notes.publish", input: `{"id":4711}`, editor: ambit.CodeNotFound, reader: ambit.CodeForbidden},
	}
	for name, database := range map[string]func() string{"sqlite": func() string { return "" }, "postgres": func() string { return databases.Database(t) }} {
		t.Run(name, func(t *testing.T) {
			for _, way := range ambittest.Ways() {
				t.Run(way.String(), func(t *testing.T) {
					host, editor, reader := newHostOn(t, database())
					for _, tt := range tests {
						wantEditor, wantReader := tt.editor, tt.reader
						if tt.name == "notes.purge" && way.Surface() != ambit.MCP {
							wantEditor = ambit.CodeConfirmationRequired // of the caller, where no model is
						}
						check(t, host.As(reader).Over(way).Call(tt.name, tt.input), tt.name+tt.input+" as reader", tt.output, wantReader)
						check(t, host.As(editor).Over(way).Call(tt.name, tt.input), tt.name+tt.input+" as editor", tt.output, wantEditor)
					}
				})
			}
		})
	}
}

// check holds an answer to an output that contains a text, or to a code.
func check(t *testing.T, answer *ambittest.Answer, call, output string, code ambit.Code) {
	t.Helper()
	if code != "" {
		if answer.Err == nil || code != answer.Err.Code {
			t.Errorf("%s: want %s, got %s %v", call, code, answer.Output, answer.Err)
		}
		return
	}
	if answer.Err != nil || !strings.Contains(string(answer.Output), output) {
		t.Errorf("%s: want an output with %s, got %s %v", call, output, answer.Output, answer.Err)
	}
}

func TestConflictTellsTheVersion(t *testing.T) {
	t.Parallel()
	for _, way := range ambittest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			host, editor, _ := newHost(t)
			client := host.As(editor).Over(way)
			refused := client.Call("notes.update", `{"id":1,"version":7,"title":"Late"}`).Refused(ambit.CodeConflict)
			got, err := json.Marshal(refused.Details)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"version":1}`, string(got)); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTypedCall calls with Go values, as another part of the program would.
func TestTypedCall(t *testing.T) {
	t.Parallel()
	host, editor, reader := newHost(t)
	note := ambittest.Call(host.As(editor), notes.Create, notes.CreateInput{Title: "Typed"})
	got := ambittest.Call(host.As(reader), notes.Get, notes.GetInput{ID: note.ID})
	if diff := cmp.Diff(&note, got.Note); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	hits := ambittest.Call(host.As(reader), notes.Search, notes.SearchInput{Query: "the"})
	if want := 10; len(hits.Hits) != want {
		t.Errorf("want the default limit of %d to hold, got %d hits", want, len(hits.Hits))
	}
	ambittest.Refused(host.As(reader), notes.Tag, notes.TagInput{ID: 1, Add: []string{"x"}}, ambit.CodeForbidden)
	ambittest.Refused(host.As(ambittest.Anonymous()), notes.Get, notes.GetInput{ID: 1}, ambit.CodeUnauthenticated)
}

func TestListings(t *testing.T) {
	t.Parallel()
	host, editor, reader := newHost(t)
	host.CheckListings(editor, reader)
	readerNames := []string{"notes.export", "notes.get", "notes.published", "notes.search"}
	editorNames := []string{"notes.create", "notes.export", "notes.get", "notes.import", "notes.publish", "notes.published", "notes.purge", "notes.search", "notes.tag", "notes.update"}
	for _, way := range ambittest.Ways() {
		for who, want := range map[*ambit.Principal][]string{editor: editorNames, reader: readerNames} {
			if way.Surface() == ambit.MCP {
				want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name == "notes.published" })
			}
			if diff := cmp.Diff(want, host.As(who).Over(way).Listed()); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", way, who.Subject, diff)
			}
		}
	}
}

func TestImportProgressReachesTheCaller(t *testing.T) {
	t.Parallel()
	for _, way := range []ambittest.Way{ambittest.InProcess, ambittest.CommandLine, ambittest.MCP, ambittest.MCP2025} {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			host, editor, _ := newHost(t)
			answer := host.As(editor).Over(way).Call("notes.import", `{"text":"# One\n# Two\n# Three"}`)
			answer.OK()
			want := []ambit.Progress{
				{Done: 1, Total: 3, Message: "1 of 3 notes"},
				{Done: 2, Total: 3, Message: "2 of 3 notes"},
				{Done: 3, Total: 3, Message: "3 of 3 notes"},
			}
			if diff := cmp.Diff(want, answer.Progress); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPublished holds what the two listings say to golden files: a change of
// what callers are shown is to be seen in review.
func TestPublished(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var notices bytes.Buffer
	app, options, err := open(t.Context(), flags{database: filepath.Join(folder, "notes.db")}, &notices)
	if err != nil {
		t.Fatal(err)
	}
	defer options.Close()
	handler, err := serve.Handler(app, options.Serve)
	if err != nil {
		t.Fatal(err)
	}
	keys := shownKeys(notices.String())
	ask := func(request *http.Request) []byte {
		request.Host = "localhost"
		request.Header.Set("Authorization", "Bearer "+keys["editor"])
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Fatalf("%s %s: want 200, got %d: %s", request.Method, request.URL, recorder.Code, recorder.Body)
		}
		return recorder.Body.Bytes()
	}
	golden(t, "api.json", ask(httptest.NewRequest(http.MethodGet, "/api/", nil)))
	tools := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	tools.Header.Set("MCP-Protocol-Version", "2025-11-25")
	golden(t, "tools.json", ask(tools))
}

// golden compares JSON with a file in testdata, laid out for people.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
