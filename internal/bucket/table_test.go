package bucket_test

import (
	"testing"
	"time"

	"github.com/ambit-dev/ambit/internal/bucket"
)

func newTable(most int) bucket.Table[int, bucket.Bucket] {
	return bucket.NewTable[int]((*bucket.Bucket).Full, most)
}

func TestTableForgetsTheIdle(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 1, time.Second, 1)
	table := newTable(0)
	largest := 0
	for key := range 100_000 {
		take(table.At(key, now), l, now)
		now = now.Add(time.Millisecond)
		largest = max(largest, table.Len())
	}
	// A thousand are busy at a time, and as many idle ones may be kept beside.
	if largest > 2*1001+1 {
		t.Errorf("want about 2,000 values at most, got %d", largest)
	}
	now = now.Add(time.Minute)
	table.At(1, now)
	if got := table.Len(); got != 1 {
		t.Errorf("a minute later: want one value, got %d", got)
	}
}

func TestTableKeepsTheBusy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 1, time.Hour, 1)
	table := newTable(0)
	take(table.At(-1, now), l, now)
	for key := range 1000 {
		now = now.Add(time.Second)
		table.At(key, now)
	}
	if wait := table.Find(-1).Wait(l, now); wait != time.Hour-1000*time.Second {
		t.Errorf("want the rest of the hour to wait, got %v", wait)
	}
	if table.Find(-2) != nil {
		t.Error("found a key that was never there")
	}
}

func TestTableMost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 1, time.Hour, 1)
	table := newTable(100)
	for key := range 10_000 {
		take(table.At(key, now), l, now)
		if got := table.Len(); got > 100 {
			t.Fatalf("want at most 100 values, got %d", got)
		}
		if wait := table.Find(key).Wait(l, now); wait != time.Hour {
			t.Fatalf("the newest value was forgotten")
		}
	}
}
