package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/wire"
)

const (
	// crowdSize is how many callers there are, each with a permission of its own.
	crowdSize = 1_000
	fewSize   = 10

	// keptPerCapability is the most bytes that a capability may hold, on both
	// surfaces and with its share of what the callers are known by: the goal, which
	// is a little above what README.md shows.
	keptPerCapability = 10 << 10
	// keptPerCaller is the most bytes that may be kept of a caller who has listed
	// and called: its key and a number, for as long as its rate is of interest. A
	// bit for each capability would have more than twice as many, a page of a
	// listing three hundred times.
	keptPerCaller = 512
)

// BenchmarkStartCrowd brings both surfaces with 10,000 capabilities and 1,000
// callers up to the first call. The metric B/capability is what stays on the
// heap for each capability.
func BenchmarkStartCrowd(b *testing.B) {
	keys := side.AmbitKeys(crowdSize)
	var (
		kept int64
		used time.Duration
	)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		heap, cpu := liveHeap(), cpuTime(b)
		b.StartTimer()
		crowd := newCrowd(b, catalogSize, keys)
		if err := crowdCall(crowd, 0).Try(crowd.HTTP); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		used += cpuTime(b) - cpu
		kept = liveHeap() - heap
		runtime.KeepAlive(crowd)
		b.StartTimer()
	}
	b.ReportMetric(float64(kept)/catalogSize, "B/capability")
	reportCPU(b, used)
}

// BenchmarkListPageSparse is the page of a caller who may call 10 of 10,000
// capabilities, so that all of them are decided about: through the recorder, one
// caller after the other.
func BenchmarkListPageSparse(b *testing.B) {
	crowd := newCrowd(b, catalogSize, side.AmbitKeys(crowdSize))
	benchmarkCrowd(b, crowd.MCP, crowdSize, func(i int) *wire.Exchange { return crowdList(crowd, i, catalogSize/crowdSize) })
}

// BenchmarkCallAmong is a whole call through the recorder, by ten callers in
// turn, of ten capabilities: where there are no others, and among 10,000. With
// crowd, it is 1,000 callers of 1,000 capabilities, which a processor's caches
// do not hold.
func BenchmarkCallAmong(b *testing.B) {
	keys := side.AmbitKeys(crowdSize)
	few, many := newCrowd(b, fewSize, keys), newCrowd(b, catalogSize, keys)
	for _, c := range []struct {
		name    string
		crowd   *side.AmbitCrowd
		callers int
	}{{"10", few, fewSize}, {"10000", many, fewSize}, {"10000-crowd", many, crowdSize}} {
		b.Run("http/"+c.name, func(b *testing.B) {
			benchmarkCrowd(b, c.crowd.HTTP, c.callers, func(i int) *wire.Exchange { return crowdCall(c.crowd, i) })
		})
		b.Run("mcp/"+c.name, func(b *testing.B) {
			benchmarkCrowd(b, c.crowd.MCP, c.callers, func(i int) *wire.Exchange { return crowdToolCall(c.crowd, i) })
		})
	}
}

// benchmarkCrowd lets so many callers take turns.
func benchmarkCrowd(b *testing.B, handler http.Handler, callers int, of func(caller int) *wire.Exchange) {
	b.Helper()
	exchanges := make([]*wire.Exchange, callers)
	for i := range exchanges {
		exchanges[i] = of(i)
		if err := exchanges[i].Try(handler); err != nil {
			b.Fatal(err)
		}
	}
	turn := 0
	meter(b)
	for b.Loop() {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, exchanges[turn%callers].Request())
		if recorder.Code != http.StatusOK {
			b.Fatalf("status %d", recorder.Code)
		}
		turn++
	}
}

// TestCrowd lets every caller list and call on both surfaces: each is listed
// what it may call, and nothing stays of it but what limits remember. It is not
// parallel, because it measures the heap of the process.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 capabilities take a while")
	}
	keys := side.AmbitKeys(crowdSize)
	newCrowd(t, fewSize, keys) // what the first application of a process brings with it
	heap := liveHeap()
	crowd := newCrowd(t, catalogSize, keys)
	// The buffer of a page is kept once, whoever lists.
	if err := crowdList(crowd, 0, catalogSize/crowdSize).Try(crowd.MCP); err != nil {
		t.Fatal(err)
	}
	started := liveHeap()
	if got := (started - heap) / catalogSize; got > keptPerCapability {
		t.Errorf("heap of a capability: want at most %d bytes, got %d", keptPerCapability, got)
	}
	for i := range crowdSize {
		for _, err := range []error{
			crowdList(crowd, i, catalogSize/crowdSize).Try(crowd.MCP),
			crowdToolCall(crowd, i).Try(crowd.MCP),
			crowdCall(crowd, i).Try(crowd.HTTP),
			listsAll(crowd, i, catalogSize/crowdSize),
		} {
			if err != nil {
				t.Fatalf("caller %d: %v", i, err)
			}
		}
	}
	kept := (liveHeap() - started) / crowdSize
	if kept > keptPerCaller {
		t.Errorf("heap of a caller: want at most %d bytes, got %d", keptPerCaller, kept)
	}
	t.Logf("heap: %d bytes for each capability, %d for each caller", (started-heap)/catalogSize, kept)
	runtime.KeepAlive(crowd)
}

func newCrowd(tb testing.TB, capabilities int, keys []string) *side.AmbitCrowd {
	tb.Helper()
	crowd, err := side.NewAmbitCrowd(capabilities, keys)
	if err != nil {
		tb.Fatal(err)
	}
	return crowd
}

func crowdCall(crowd *side.AmbitCrowd, caller int) *wire.Exchange {
	return wire.EnvelopeCall(crowd.Path(caller)).Bearer(crowd.Key(caller))
}

func crowdToolCall(crowd *side.AmbitCrowd, caller int) *wire.Exchange {
	return wire.ToolCall("/mcp", crowd.Tool(caller)).Bearer(crowd.Key(caller))
}

// crowdList asks for a caller's tools and expects so many, on one page.
func crowdList(crowd *side.AmbitCrowd, caller, want int) *wire.Exchange {
	list := wire.ToolList("/mcp", want).Bearer(crowd.Key(caller))
	list.Verify = func(body []byte) error {
		var answer struct {
			Result struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		r := answer.Result
		if len(r.Tools) != want || r.NextCursor != "" || r.Tools[0].Name != crowd.Tool(caller) {
			return fmt.Errorf("%d tools, cursor %q, want %d from %s on and no cursor", len(r.Tools), r.NextCursor, want, crowd.Tool(caller))
		}
		return nil
	}
	return list
}

// listsAll reports why the API does not list so many capabilities to a caller.
func listsAll(crowd *side.AmbitCrowd, caller, want int) error {
	request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/api/", nil)
	request.RemoteAddr = "127.0.0.1:4711"
	request.Header.Set("Authorization", "Bearer "+crowd.Key(caller))
	recorder := httptest.NewRecorder()
	crowd.HTTP.ServeHTTP(recorder, request)
	var answer struct {
		Data struct {
			Capabilities []struct{ Path string }
			NextCursor   string
		}
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		return err
	}
	listed := answer.Data
	if len(listed.Capabilities) != want || listed.NextCursor != "" || listed.Capabilities[0].Path != crowd.Path(caller) {
		return fmt.Errorf("status %d: %d capabilities, want %d from %s on", recorder.Code, len(listed.Capabilities), want, crowd.Path(caller))
	}
	return nil
}
