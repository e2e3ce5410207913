//go:build unix

package bench_test

import (
	"syscall"
	"testing"
)

// meter reports, beside the time that passes, the CPU time that the process
// uses from here on, as cpu-ns/op. A machine that does other work as well adds
// to the first and hardly to the second.
func meter(b *testing.B) {
	b.Helper()
	b.ReportAllocs()
	before := processNanoseconds(b)
	b.Cleanup(func() {
		b.ReportMetric(float64(processNanoseconds(b)-before)/float64(b.N), "cpu-ns/op")
	})
}

func processNanoseconds(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
