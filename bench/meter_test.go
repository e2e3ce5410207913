package bench_test

import (
	"testing"
	"time"
)

// meter reports, beside the time that passes and the allocations, the CPU time
// that the process uses from here on, as cpu-ns/op. A machine that does other
// work as well adds to the first and much less to the last.
func meter(b *testing.B) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	b.Cleanup(func() { reportCPU(b, cpuTime(b)-before) })
}

// reportCPU reports what all operations of a benchmark used together.
func reportCPU(b *testing.B, used time.Duration) {
	b.Helper()
	if used > 0 {
		b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
	}
}
