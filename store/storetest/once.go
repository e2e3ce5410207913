package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// nonceTests are about the nonces of agents' signatures.
func nonceTests() []test {
	return onceTests(func(b bench) func(ctx context.Context, of, name string, until time.Time) (bool, error) {
		return b.Nonces.Record
	})
}

// replayTests are about proofs of possession.
func replayTests() []test {
	return onceTests(func(b bench) func(ctx context.Context, of, name string, until time.Time) (bool, error) {
		return func(ctx context.Context, of, name string, until time.Time) (bool, error) {
			return b.Replays.Record(ctx, of+" "+name, until)
		}
	})
}

func onceTests(part func(bench) func(ctx context.Context, of, name string, until time.Time) (bool, error)) []test {
	return []test{
		{"something is fresh once, for each by itself", func(t *testing.T, b bench) {
			record, until := part(b), time.Now().Add(time.Minute)
			for _, step := range []struct {
				of, name string
				want     bool
			}{
				{"a", "1", true},
				{"a", "1", false},
				{"b", "1", true},
				{"a", "2", true},
				{"a 2", "", true},
				{"b", "1", false},
				{"", "", true},
			} {
				if fresh, err := record(t.Context(), step.of, step.name, until); err != nil || fresh != step.want {
					t.Errorf("%q of %q: want fresh %t, got %t, error %v", step.name, step.of, step.want, fresh, err)
				}
			}
		}},
		{"it can have any name", func(t *testing.T, b bench) {
			record, until := part(b), time.Now().Add(time.Minute)
			for _, want := range []bool{true, false} {
				for _, name := range subjects() {
					if fresh, err := record(t.Context(), "a", name, until); err != nil || fresh != want {
						t.Errorf("%.20q: want fresh %t, got %t, error %v", name, want, fresh, err)
					}
				}
			}
		}},
		{"it is remembered until its time, and not for ever", func(t *testing.T, b bench) {
			record, until := part(b), time.Now().Add(time.Hour)
			for i := range 100 {
				if fresh, err := record(t.Context(), "a", fmt.Sprint(i), until); err != nil || !fresh {
					t.Fatalf("fresh %t, error %v", fresh, err)
				}
			}
			b.Advance(59 * time.Minute)
			if fresh, err := record(t.Context(), "a", "7", until); err != nil || fresh {
				t.Errorf("before its time: want it remembered, got fresh %t, error %v", fresh, err)
			}
			b.Advance(time.Hour)
			if fresh, err := record(t.Context(), "a", "7", until.Add(2*time.Hour)); err != nil || !fresh {
				t.Errorf("long after: want it forgotten, got fresh %t, error %v", fresh, err)
			}
			if fresh, err := record(t.Context(), "a", "7", until.Add(2*time.Hour)); err != nil || fresh {
				t.Errorf("recorded again: want it remembered, got fresh %t, error %v", fresh, err)
			}
		}},
		{"what is over makes room for others", func(t *testing.T, b bench) {
			record, begun := part(b), time.Now()
			b.turnsOver(t, 3*time.Hour, func(n int) {
				until := begun.Add(time.Hour + time.Duration(n/atATime)*3*time.Hour)
				if fresh, err := record(t.Context(), "a", fmt.Sprint(n), until); err != nil || !fresh {
					t.Fatalf("fresh %t, error %v", fresh, err)
				}
			})
		}},
		{"of 64 who use it at once, one is told that it is fresh", func(t *testing.T, b bench) {
			record, until, fresh := part(b), time.Now().Add(time.Minute), 0
			for _, is := range together(64, func(int) bool {
				fresh, err := record(t.Context(), "a", "1", until)
				if err != nil {
					t.Errorf("Record: %v", err)
				}
				return fresh
			}) {
				fresh += count(is)
			}
			if fresh != 1 {
				t.Errorf("want one, got %d", fresh)
			}
		}},
		{"a context that has ended is an error", func(t *testing.T, b bench) {
			if fresh, err := part(b)(canceled(t), "a", "1", time.Now().Add(time.Minute)); err == nil || fresh {
				t.Errorf("want an error, got fresh %t, error %v", fresh, err)
			}
		}},
	}
}
