//go:build !race

package mcp_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
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
	server := newServer(t, fixture(unlimited()), withPeople())
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_search","arguments":{"query":"roadmap","limit":5},"_meta":{META}}}`,
		"Authorization: Test reader", "modern tools/call notes_search")
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	input := bytes.NewReader(text)
	body, w := io.NopCloser(input), discard{}
	const most = 13
	got := testing.AllocsPerRun(200, func() {
		_, _ = input.Seek(0, io.SeekStart)
		r.Body = body
		clear(w)
		server.ServeHTTP(w, r)
	})
	if got > most {
		t.Errorf("allocations of a call: want at most %d, got %v", most, got)
	}
}

// TestAllocOfAPage shows that the buffer of a page is used for the next one.
func TestAllocOfAPage(t *testing.T) {
	o := unlimited()
	o.Name = "test"
	app := ambit.New(o)
	for i := range ambit.DefaultPage {
		s := spec(fmt.Sprintf("notes.note_%02d", i), ambit.Read, ambit.Authenticated)
		s.Description = strings.Repeat("A long description. ", 50)
		app.Add(ambit.Define(s, ran))
	}
	server := newServer(t, app, withPeople())
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{META}}}`, "Authorization: Test reader", "modern tools/list")
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	page := func() {
		r.Body = io.NopCloser(bytes.NewReader(text))
		server.ServeHTTP(discard{}, r)
	}
	// A pool has a part for each processor, and forgets at collections.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	page()
	const rounds, most = 20, 10 << 10 // a page has 100 KB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		page()
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / rounds; got > most {
		t.Errorf("bytes of a page: want at most %d, got %d", most, got)
	}
}
