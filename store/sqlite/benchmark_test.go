package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.Benchmark(b, stores(s))
}
