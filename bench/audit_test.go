package bench_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// auditedSides are calls without and with an audit record.
func auditedSides() []auditedSide {
	var sides []auditedSide
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute} {
		sides = append(sides, auditedSide{effect.String() + "-unrecorded", effect, false}, auditedSide{effect.String(), effect, true})
	}
	return sides
}

type auditedSide struct {
	name     string
	effect   ambit.Effect
	recorded bool
}

// BenchmarkAudit is what a caller pays for the record of a typed call in process:
// of a read and a write the line in the queue, of an execution the intent and the
// outcome in a store in memory. What the log writes on its own time is not
// counted.
func BenchmarkAudit(b *testing.B) {
	for _, s := range auditedSides() {
		b.Run(s.name, func(b *testing.B) {
			a := openAudited(b, s)
			order, ctx := workload.ValidOrder(), b.Context()
			a.Hold()
			b.ReportAllocs()
			var used time.Duration
			before := cpuTime(b)
			for n := 1; b.Loop(); n++ {
				if _, err := a.Client.Call(ctx, order); err != nil {
					b.Fatal(err)
				}
				if n%(side.AuditQueue/2) == 0 {
					b.StopTimer()
					used += cpuTime(b) - before
					if err := a.Drain(ctx); err != nil {
						b.Fatal(err)
					}
					a.Hold()
					before = cpuTime(b)
					b.StartTimer()
				}
			}
			b.StopTimer()
			reportCPU(b, used+cpuTime(b)-before)
			if err := a.Drain(ctx); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	for _, s := range auditedSides() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			openAudited(t, s)
		})
	}
}

// openAudited opens the side and fails unless a call gives the right hits.
func openAudited(tb testing.TB, s auditedSide) *side.AmbitAudited {
	tb.Helper()
	a, err := side.NewAmbitAudited(tb.Context(), s.effect, s.recorded)
	if err != nil {
		tb.Fatal(err)
	}
	order := workload.ValidOrder()
	got, err := a.Client.Call(tb.Context(), order)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(workload.Find(order), got); diff != "" {
		tb.Fatalf("%s: wrong hits (-want +got):\n%s", s.name, diff)
	}
	if err := a.Drain(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := a.Client.Close(); err != nil {
			tb.Errorf("closing %s: %v", s.name, err)
		}
	})
	return a
}
