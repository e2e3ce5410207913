//go:build !race

package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ambit-dev/ambit"
)

// discard is the least that a handler can write to.
type discard http.Header

func (d discard) Header() http.Header { return http.Header(d) }

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) WriteHeader(int) {}

// TestAllocsOfACall bounds what a call costs from the handler's start to its
// end. The race detector makes pools forget, so that this runs without it.
func TestAllocsOfACall(t *testing.T) {
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	input := bytes.NewReader([]byte(`{"query":"roadmap","limit":5}`))
	r := httptest.NewRequest("POST", "http://localhost/api/notes/search", input)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Test reader")
	body, w := r.Body, discard{}
	const most = 18
	got := testing.AllocsPerRun(200, func() {
		_, _ = input.Seek(0, io.SeekStart)
		r.Body = body
		clear(w)
		api.ServeHTTP(w, r)
	})
	if got > most {
		t.Errorf("allocations of a call: want at most %d, got %v", most, got)
	}
}
