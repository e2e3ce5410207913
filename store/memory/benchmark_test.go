package memory_test

import (
	"testing"

	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	s := memory.New()
	storetest.Benchmark(b, storetest.Stores{Approvals: s, Audit: s, Rates: s})
}
