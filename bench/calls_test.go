package bench_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/wire"
)

// caller is one side of the benchmarks of whole calls: a handler, and the
// exchange that asks it for the workload in its own form.
type caller struct {
	name     string
	handler  func() http.Handler
	exchange *wire.Exchange
}

// httpCallers begins with the empty handler, so that what a process spends on
// its first benchmark is charged to none of the contenders.
func httpCallers() []caller {
	return []caller{
		{"empty", side.Empty, &wire.Exchange{Path: "/"}},
		{"ambit", side.AmbitHTTP, wire.EnvelopeCall(side.AmbitPath).Bearer(side.AmbitKey)},
		{"huma", side.Huma, wire.BareCall(side.HumaPath)},
	}
}

func mcpCallers() []caller {
	call := wire.ToolCall("/mcp", side.ToolName)
	return []caller{
		{"empty", side.Empty, &wire.Exchange{Path: call.Path, Header: call.Header, Body: call.Body}},
		{"ambit", side.AmbitMCP, call.Bearer(side.AmbitKey)},
		{"mcpgo", side.MCPGo, call},
		{"gosdk", side.GoSDK, call},
	}
}

const (
	catalogSize = 10_000
	pageSize    = 100
)

func listCallers() []caller {
	list := wire.ToolList("/mcp", pageSize)
	return []caller{
		{"ambit", func() http.Handler { return side.AmbitCatalog(catalogSize) }, list.Bearer(side.AmbitKey)},
		{"mcpgo", func() http.Handler { return side.MCPGoCatalog(catalogSize, pageSize) }, list},
		{"gosdk", func() http.Handler { return side.GoSDKCatalog(catalogSize, pageSize) }, list},
	}
}

// BenchmarkHTTPCall is a whole call over HTTP, through the recorder: request,
// decoding, checks, the operation, the answer.
func BenchmarkHTTPCall(b *testing.B) { benchmarkCallers(b, httpCallers()) }

// BenchmarkMCPCall is a whole tools/call in revision 2026-07-28, through the
// recorder, with input and output checked.
func BenchmarkMCPCall(b *testing.B) { benchmarkCallers(b, mcpCallers()) }

// BenchmarkListPage is the first page of 100 out of 10,000 tools, through the
// recorder. Ambit's side named ambit-page is the page alone, in a buffer that is
// used again: without the transport, and without the collector's work for two
// new buffers of 150 KB in front of a large heap.
func BenchmarkListPage(b *testing.B) {
	benchmarkCallers(b, listCallers())
	b.Run("ambit-page", func(b *testing.B) {
		page, err := side.AmbitPages(b.Context(), catalogSize)
		if err != nil {
			b.Fatal(err)
		}
		var text []byte
		meter(b)
		for b.Loop() {
			if text, err = page(text[:0]); err != nil || len(text) < pageSize*1_000 {
				b.Fatalf("a page of %d bytes, error %v", len(text), err)
			}
		}
	})
}

func TestHTTPCall(t *testing.T) { testCallers(t, httpCallers()) }

func TestMCPCall(t *testing.T) { testCallers(t, mcpCallers()) }

func TestListPage(t *testing.T) { testCallers(t, listCallers()) }

func benchmarkCallers(b *testing.B, callers []caller) {
	for _, c := range callers {
		b.Run(c.name, func(b *testing.B) {
			handler := c.handler()
			if err := c.exchange.Try(handler); err != nil {
				b.Fatal(err)
			}
			// A new buffer for each answer would count the recorder's copy of it,
			// which is no work of any side.
			var body bytes.Buffer
			meter(b)
			for b.Loop() {
				body.Reset()
				recorder := httptest.NewRecorder()
				recorder.Body = &body
				handler.ServeHTTP(recorder, c.exchange.Request())
				if recorder.Code != http.StatusOK {
					b.Fatalf("status %d", recorder.Code)
				}
			}
		})
	}
}

func testCallers(t *testing.T, callers []caller) {
	t.Parallel()
	for _, c := range callers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.exchange.Try(c.handler()); err != nil {
				t.Error(err)
			}
		})
	}
}
