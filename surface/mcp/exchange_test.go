package mcp_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

var update = flag.Bool("update", false, "write the answers that came into testdata")

// TestExchanges sends the requests of testdata/exchanges and compares whole
// answers. An archive holds pairs of "NAME: request" and "NAME: answer"; its
// comment says what they have in common. Files whose name begins with "open"
// are for a server without authenticators, those with "min" for one that serves
// nothing older than 2025-11-25, those with "keyed" for an application that keeps
// a record of idempotency keys.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o ambit.Options
			options := withPeople()
			switch {
			case strings.HasPrefix(name, "open"):
				options = mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}}
			case strings.HasPrefix(name, "min"):
				options.MinProtocol = "2025-11-25"
			case strings.HasPrefix(name, "keyed"):
				o.Ledger = idempotency.NewMemory(idempotency.Options{})
			}
			exchange(t, file, newServer(t, fixture(o), options))
		})
	}
}

func exchange(t *testing.T, file string, server http.Handler) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var renewed []txtar.File
	for _, part := range archive.Files {
		name, ok := strings.CutSuffix(part.Name, ": request")
		if !ok {
			continue
		}
		got := answer(t, server, part.Data)
		renewed = append(renewed, part, txtar.File{Name: name + ": answer", Data: []byte(got)})
		if *update {
			continue
		}
		at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name+": answer" })
		if at < 0 {
			t.Errorf("%s has no answer: run with -update and read what it writes", name)
			continue
		}
		if diff := cmp.Diff(string(archive.Files[at].Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if *update {
		archive.Files = renewed
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// answer sends a request given as text and returns the answer as text.
func answer(t *testing.T, server http.Handler, text []byte) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	r, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	server.ServeHTTP(recorder, r)
	return render(recorder)
}

// parse reads a request line, headers and, after an empty line, a body without
// the newline at its end. A POST has the headers that every client sends unless
// it names its own; "modern NAME" stands for those that revision 2026-07-28
// wants of a method, and META in a body for its _meta members.
func parse(text []byte) (*http.Request, error) {
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	line, headers, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	method, path, ok := strings.Cut(line, " ")
	if !ok {
		return nil, fmt.Errorf("no request line: %q", line)
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("META"), []byte(modernMeta))
	body = bytes.ReplaceAll(body, []byte(`\xFF`), []byte{0xFF})
	body = repeated.ReplaceAllFunc(body, repeat)
	r := httptest.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
	r.Header = http.Header{"X-Request-Id": {"test"}}
	if method == http.MethodPost {
		r.Header["Accept"] = []string{"application/json, text/event-stream"}
		r.Header["Content-Type"] = []string{"application/json"}
	}
	given := map[string]bool{}
	for header := range strings.Lines(headers) {
		if call, ok := strings.CutPrefix(strings.TrimSpace(header), "modern "); ok {
			modernHeaders(r.Header, strings.Fields(call))
			continue
		}
		name, value, ok := strings.Cut(strings.TrimSpace(header), ":")
		name, value = http.CanonicalHeaderKey(name), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, fmt.Errorf("no header: %q", header)
		case name == "Host":
			r.Host = value
		case name == "Content-Length":
			length, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, err
			}
			r.ContentLength = length
		case value == "(none)":
			delete(r.Header, name)
		case given[name]:
			r.Header.Add(name, value)
		default:
			r.Header.Set(name, value)
			given[name] = true
		}
	}
	return r, nil
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// modernHeaders sets the headers for a method and the name that it has.
func modernHeaders(header http.Header, call []string) {
	header["Mcp-Protocol-Version"] = []string{"2026-07-28"}
	header["Mcp-Method"] = call[:1]
	if len(call) > 1 {
		header["Mcp-Name"] = call[1:2]
	}
}

// repeated matches N*(TEXT), which stands for TEXT so many times.
var repeated = regexp.MustCompile(`([0-9]+)\*\(([^)]*)\)`)

func repeat(match []byte) []byte {
	parts := repeated.FindSubmatch(match)
	n, _ := strconv.Atoi(string(parts[1])) // digits
	return bytes.Repeat(parts[2], n)
}

func render(recorder *httptest.ResponseRecorder) string {
	var text strings.Builder
	fmt.Fprintln(&text, recorder.Code)
	header := recorder.Header()
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	if recorder.Body.Len() > 0 {
		fmt.Fprintf(&text, "\n%s\n", recorder.Body)
	}
	return text.String()
}
