package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// rateTests are about what instances share of their rates.
func rateTests() []test {
	perHour := ambit.Rate{Calls: 6, Per: time.Hour, Burst: 3}
	return []test{
		{"a bucket gives its burst, then its pace", func(t *testing.T, b bench) {
			take := func(bucket string, want time.Duration) {
				t.Helper()
				wait, err := b.Rates.Take(t.Context(), bucket, perHour)
				if err != nil || (wait > 0) != (want > 0) || (want-wait).Abs() > 5*time.Minute {
					t.Errorf("Take: want about %s to wait, got %s, error %v", want, wait, err)
				}
			}
			for range 3 {
				take("a", 0)
			}
			take("a", 10*time.Minute)
			take("a", 10*time.Minute)
			take("b", 0)
			b.Advance(10 * time.Minute)
			take("a", 0)
			take("a", 10*time.Minute)
			b.Advance(24 * time.Hour)
			for range 3 {
				take("a", 0)
			}
			take("a", 10*time.Minute)
		}},
		{"of 100 who take at once, as many do as there are tokens", func(t *testing.T, b bench) {
			taken := 0
			for _, ok := range together(100, func(int) bool {
				wait, err := b.Rates.Take(t.Context(), "a", ambit.Rate{Calls: 10, Per: time.Hour})
				if err != nil {
					t.Errorf("Take: %v", err)
				}
				return err == nil && wait == 0
			}) {
				taken += count(ok)
			}
			if taken != 10 {
				t.Errorf("want 10, got %d", taken)
			}
		}},
		{"a bucket can have any name", func(t *testing.T, b bench) {
			for _, there := range []bool{true, false} {
				for _, name := range append(subjects(), "") {
					wait, err := b.Rates.Take(t.Context(), name, ambit.Rate{Calls: 1, Per: time.Hour})
					if err != nil || (wait == 0) != there {
						t.Errorf("%.20q: want a token there: %t, got %s to wait, error %v", name, there, wait, err)
					}
				}
			}
		}},
		{"buckets that are full make room for others", func(t *testing.T, b bench) {
			b.turnsOver(t, 3*time.Hour, func(n int) {
				if wait, err := b.Rates.Take(t.Context(), fmt.Sprint("bucket ", n), perHour); err != nil || wait != 0 {
					t.Fatalf("wait %s, error %v", wait, err)
				}
			})
		}},
		{"no limit is no limit, and a rate that is none is an error", func(t *testing.T, b bench) {
			for range 100 {
				if wait, err := b.Rates.Take(t.Context(), "a", ambit.Rate{Calls: ambit.Unlimited}); err != nil || wait != 0 {
					t.Fatalf("Take without a limit: wait %s, error %v", wait, err)
				}
			}
			if _, err := b.Rates.Take(t.Context(), "a", ambit.Rate{Calls: 1}); err == nil {
				t.Error("Take at a rate without a time: want an error, got none")
			}
		}},
	}
}
