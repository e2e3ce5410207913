package bench_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// BenchmarkFaults goes from the bytes of an order with six faults to the list of
// all six.
func BenchmarkFaults(b *testing.B) {
	want := len(workload.FaultyPointers())
	for _, v := range validators() {
		if v.faults == nil {
			continue
		}
		b.Run(v.name, func(b *testing.B) {
			requirePointers(b, v)
			data := []byte(workload.FaultyJSON)
			meter(b)
			for b.Loop() {
				if got := v.faults(data); got != want {
					b.Fatalf("%d faults, want %d", got, want)
				}
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, v := range validators() {
		if v.faults == nil {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			requirePointers(t, v)
		})
	}
}

// requirePointers fails unless the side finds the six faults, in whatever order
// it finds them.
func requirePointers(tb testing.TB, v validator) {
	tb.Helper()
	want, got := workload.FaultyPointers(), v.pointers([]byte(workload.FaultyJSON))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Fatalf("%s: wrong places (-want +got):\n%s", v.name, diff)
	}
}
