package bench_test

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkStart brings a server with 10,000 capabilities to its first listing.
// The metric B/capability is what stays on the heap for each of them.
func BenchmarkStart(b *testing.B) {
	for _, c := range listCallers() {
		b.Run(c.name, func(b *testing.B) {
			var (
				kept int64
				used time.Duration
			)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				heap, cpu := liveHeap(), cpuTime(b)
				b.StartTimer()
				handler := c.handler()
				if err := c.exchange.Try(handler); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				used += cpuTime(b) - cpu
				kept = liveHeap() - heap
				runtime.KeepAlive(handler)
				b.StartTimer()
			}
			b.ReportMetric(float64(kept)/catalogSize, "B/capability")
			reportCPU(b, used)
		})
	}
}

// liveHeap returns the bytes on the heap that are in use.
func liveHeap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
