package bench_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// BenchmarkDecode makes a checked order of the bytes. The side named jsonv2
// decodes strictly and checks nothing: the line that a check has to hide under.
func BenchmarkDecode(b *testing.B) {
	for _, v := range append(validators(), jsonv2Decoder()) {
		if v.decode == nil {
			continue
		}
		b.Run(v.name, func(b *testing.B) {
			requireOrder(b, v)
			data := []byte(workload.ValidJSON)
			meter(b)
			for b.Loop() {
				if _, err := v.decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, v := range append(validators(), jsonv2Decoder()) {
		if v.decode == nil {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			requireOrder(t, v)
		})
	}
}

// requireOrder fails unless the side makes the right order of the valid bytes
// and, if it checks at all, refuses the faulty ones.
func requireOrder(tb testing.TB, v validator) {
	tb.Helper()
	got, err := v.decode([]byte(workload.ValidJSON))
	if err != nil {
		tb.Fatalf("%s: %v", v.name, err)
	}
	if diff := cmp.Diff(workload.ValidOrder(), got); diff != "" {
		tb.Fatalf("%s: wrong order (-want +got):\n%s", v.name, diff)
	}
	if v.check == nil {
		return
	}
	if _, err := v.decode([]byte(workload.FaultyJSON)); err == nil {
		tb.Fatalf("%s: the faulty order is accepted", v.name)
	}
}
