package mcp_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"
)

// BenchmarkCall measures one tools/call through the recorder, whose own cost is
// in it.
func BenchmarkCall(b *testing.B) {
	server := newServer(b, fixture(unlimited()), withPeople())
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_search","arguments":{"query":"roadmap","limit":25},"_meta":{META}}}`,
		"Authorization: Test editor", "modern tools/call notes_search")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Body = io.NopCloser(bytes.NewReader(body))
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, r)
		if !bytes.Contains(recorder.Body.Bytes(), []byte(`"limit":25`)) {
			b.Fatalf("status %d: %s", recorder.Code, recorder.Body)
		}
	}
}
