package httpapi_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

var update = flag.Bool("update", false, "write the answers that came into testdata")

// TestExchanges sends the requests of testdata/exchanges and compares whole
// answers. An archive holds pairs of "NAME: request" and "NAME: answer"; its
// comment says what they have in common. Files whose name begins with "open"
// are for an API without authenticators, those with "keyed" for an application
// that keeps a record of idempotency keys.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			var o ambit.Options
			options := withPeople()
			switch {
			case strings.HasPrefix(filepath.Base(file), "open"):
				options = openToAll()
			case strings.HasPrefix(filepath.Base(file), "keyed"):
				o.Ledger = idempotency.NewMemory(idempotency.Options{})
			}
			exchange(t, file, newAPI(t, fixture(o), options))
		})
	}
}

func exchange(t *testing.T, file string, api http.Handler) {
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
		got := answer(t, api, part.Data)
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
func answer(t *testing.T, api http.Handler, text []byte) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, parse(t, text))
	return render(recorder)
}

// parse reads a request line, headers and, after an empty line, a body without
// the newline at its end. \xHH in the body stands for a byte.
func parse(t *testing.T, text []byte) *http.Request {
	t.Helper()
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	line, headers, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	method, path, ok := strings.Cut(line, " ")
	if !ok {
		t.Fatalf("no request line: %q", line)
	}
	body = bytes.ReplaceAll(bytes.TrimSuffix(body, []byte("\n")), []byte(`\xFF`), []byte{0xFF})
	var reader io.Reader
	if len(body) > 0 {
		reader = bytes.NewReader(body)
	}
	r := httptest.NewRequest(method, "http://localhost"+path, reader)
	r.Header.Set("X-Request-Id", "test")
	for header := range strings.Lines(headers) {
		name, value, ok := strings.Cut(strings.TrimSpace(header), ":")
		switch value = strings.TrimSpace(value); {
		case !ok:
			t.Fatalf("no header: %q", header)
		case name == "Host":
			r.Host = value
		case name == "X-Request-Id":
			r.Header.Set(name, value)
		default:
			r.Header.Add(name, value)
		}
	}
	return r
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
