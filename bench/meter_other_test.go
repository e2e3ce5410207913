//go:build !unix

package bench_test

import "testing"

// meter reports allocations; CPU time is known on Unix only.
func meter(b *testing.B) {
	b.Helper()
	b.ReportAllocs()
}
