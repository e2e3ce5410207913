// Package exchangetest sends HTTP requests that are written down as text to a
// handler, in tests, and compares whole answers with what is written down of them.
package exchangetest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Client reads requests and sends them. The zero value is one that adds nothing to
// them.
type Client struct {
	// Header returns what every request of a method has unless it names its own. Nil:
	// nothing.
	Header func(method string) http.Header
	// Short changes a header by a line that stands for others, and reports whether the
	// line is such a one. Nil: none is.
	Short func(header http.Header, line string) bool
	// Body returns what a body stands for. Nil: itself.
	Body func(body []byte) []byte
	// Update writes the answers that come into the archives, and compares nothing.
	Update bool
}

// Parse reads a request line, headers and, after an empty line, a body without the
// newline at its end. \xFF in the body stands for that byte, and "(none)" as the
// value of a header for that there is none. Of a header that is given more than once
// each is sent.
func (c Client) Parse(text []byte) (*http.Request, error) {
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	line, headers, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	method, path, ok := strings.Cut(line, " ")
	if !ok {
		return nil, fmt.Errorf("no request line: %q", line)
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	if c.Body != nil {
		body = c.Body(body)
	}
	var reader io.Reader
	if body = bytes.ReplaceAll(body, []byte(`\xFF`), []byte{0xFF}); len(body) > 0 {
		reader = bytes.NewReader(body)
	}
	r := httptest.NewRequest(method, "http://localhost"+path, reader)
	if c.Header != nil {
		r.Header = c.Header(method)
	}
	given := make(map[string]bool)
	for header := range strings.Lines(headers) {
		header = strings.TrimSpace(header)
		if c.Short != nil && c.Short(r.Header, header) {
			continue
		}
		name, value, ok := strings.Cut(header, ":")
		if !ok {
			return nil, fmt.Errorf("no header: %q", header)
		}
		name, value = http.CanonicalHeaderKey(name), strings.TrimSpace(value)
		if !given[name] {
			r.Header.Del(name)
			given[name] = true
		}
		switch {
		case name == "Host":
			r.Host = value
		case name == "Content-Length":
			length, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, err
			}
			r.ContentLength = length
		case value != "(none)":
			r.Header.Add(name, value)
		}
	}
	return r, nil
}

// Answer sends a request that is given as text and returns the answer as text.
func (c Client) Answer(t testing.TB, handler http.Handler, text []byte) string {
	t.Helper()
	r, err := c.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return Render(recorder)
}

// Render writes an answer as text: the status, the headers in the order of their
// names, and after an empty line the body.
func Render(recorder *httptest.ResponseRecorder) string {
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
