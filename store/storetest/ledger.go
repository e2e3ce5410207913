package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// ledgerTests are about the keys that clients choose.
func ledgerTests() []test {
	return []test{
		{"a claim is made once, and its outcome repeated", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.found(t, c, ambit.RecordFree, "")
			b.take(t, c)
			b.found(t, c, ambit.RecordRunning, "")
			b.finish(t, c, "done")
			b.found(t, c, ambit.RecordFinished, "done")
			if r, err := b.Approvals.Find(t.Context(), c); err != nil || r.Operation != c.Binding.Operation() {
				t.Errorf("Find: want the operation of the claim, got another, error %v", err)
			}
		}},
		{"a key that is taken answers for the call that took it", func(t *testing.T, b bench) {
			b.take(t, b.keyed("k", "x"))
			other := b.keyed("k", "y")
			r, err := b.Approvals.Claim(t.Context(), other)
			if err != nil || r.State != ambit.RecordRunning || r.Operation != b.binding("robot", "x").Operation() {
				t.Errorf("Claim for another call: want the record of the first, got %v, %v", r, err)
			}
			b.take(t, b.keyed("another", "y"))
		}},
		{"a lease that lapses leaves the call unknown, and its end is still taken", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.take(t, c)
			b.Advance(lease)
			b.found(t, c, ambit.RecordUnknown, "")
			b.finish(t, c, "late")
			b.found(t, c, ambit.RecordFinished, "late")
		}},
		{"a record is kept for a day", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.take(t, c)
			b.finish(t, c, "done")
			b.Advance(24*time.Hour - time.Minute)
			b.found(t, c, ambit.RecordFinished, "done")
			b.Advance(time.Minute)
			b.found(t, c, ambit.RecordFree, "")
			c.Attempt = attempt()
			b.take(t, c)
		}},
		{"a record is kept for as long as its call may take", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			c.Lease = 48 * time.Hour
			b.take(t, c)
			b.Advance(47 * time.Hour)
			b.found(t, c, ambit.RecordRunning, "")
		}},
		{"keys that have expired make room for others", func(t *testing.T, b bench) {
			b.turnsOver(t, 25*time.Hour, func(n int) {
				c := b.keyed(fmt.Sprint("k ", n), "x")
				b.take(t, c)
				if n%2 == 0 {
					b.finish(t, c, "done")
				}
			})
		}},
		{"a claim that is released was never there", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.take(t, c)
			if err := b.Approvals.Release(t.Context(), c); err != nil {
				t.Fatalf("Release: %v", err)
			}
			b.found(t, c, ambit.RecordFree, "")
			if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{}); err == nil {
				t.Error("Finish after Release: want an error, got none")
			}
		}},
		{"only the attempt that made a claim ends it", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.take(t, c)
			other := c
			other.Attempt = attempt()
			if err := b.Approvals.Release(t.Context(), other); err != nil {
				t.Errorf("Release by another attempt: %v", err)
			}
			if err := b.Approvals.Finish(t.Context(), other, ambit.Ending{Outcome: []byte("other")}); err == nil {
				t.Error("Finish by another attempt: want an error, got none")
			}
			b.found(t, c, ambit.RecordRunning, "")
			b.finish(t, c, "done")
			if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("again")}); err != nil {
				t.Errorf("second Finish, as after a broken connection: %v", err)
			}
			if err := b.Approvals.Release(t.Context(), c); err != nil {
				t.Errorf("Release after Finish: %v", err)
			}
			b.found(t, c, ambit.RecordFinished, "done")
		}},
		{"in the place of an outcome that is too large the receipt is kept", func(t *testing.T, b bench) {
			c := b.keyed("k", "x")
			b.take(t, c)
			b.finish(t, c, string(make([]byte, 64<<20)))
			b.found(t, c, ambit.RecordFinished, receipt)
		}},
		{"an outcome of a mebibyte is kept to the byte", func(t *testing.T, b bench) {
			outcome := make([]byte, 1<<20)
			for i := range outcome {
				outcome[i] = byte(i * 7)
			}
			c := b.keyed("k", "x")
			b.take(t, c)
			b.finish(t, c, string(outcome))
			b.found(t, c, ambit.RecordFinished, string(outcome))
		}},
		{"a claim of nothing is always made", func(t *testing.T, b bench) {
			c := ambit.Claim{Attempt: attempt(), Binding: b.binding("robot", "x"), Lease: lease}
			b.take(t, c)
			b.found(t, c, ambit.RecordFree, "")
			b.take(t, c)
			b.finish(t, c, "")
		}},
		{"a context that has ended is an error", func(t *testing.T, b bench) {
			ended := canceled(t)
			c := b.keyed("k", "x")
			if _, err := b.Approvals.Claim(ended, c); err == nil {
				t.Error("Claim: want an error, got none")
			}
			if _, err := b.Approvals.Find(ended, c); err == nil {
				t.Error("Find: want an error, got none")
			}
			b.found(t, c, ambit.RecordFree, "")
		}},
	}
}
