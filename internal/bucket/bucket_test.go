package bucket_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit/internal/bucket"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		events int
		per    time.Duration
		burst  int
		want   string
	}{
		{"plain", 10, time.Minute, 20, ""},
		{"no burst", 10, time.Minute, 0, ""},
		{"none", bucket.Unlimited, 0, 0, ""},
		{"faster than the clock", math.MaxInt, time.Nanosecond, 1, ""},
		{"a year", 1, 366 * 24 * time.Hour, 1, ""},
		{"no events", 0, time.Minute, 1, "Calls is not above zero"},
		{"negative events", -2, time.Minute, 1, "Calls is not above zero"},
		{"none, in a time", bucket.Unlimited, time.Second, 0, "Calls is not above zero"},
		{"no time", 1, 0, 1, "Per is not above zero"},
		{"negative time", 1, -time.Second, 1, "Per is not above zero"},
		{"negative burst", 1, time.Second, -1, "Burst is negative"},
		{"more than a year", 1, time.Hour, 9000, "Burst takes more than a year to come back"},
		{"beyond all numbers", 1, math.MaxInt64, math.MaxInt, "Burst takes more than a year to come back"},
	} {
		if _, got := bucket.New(test.events, test.per, test.burst); got != test.want {
			t.Errorf("%s: want fault %q, got %q", test.name, test.want, got)
		}
	}
}

// limit returns a limit that is known to be right.
func limit(t rapid.TB, events int, per time.Duration, burst int) bucket.Limit {
	t.Helper()
	l, fault := bucket.New(events, per, burst)
	if fault != "" {
		t.Fatalf("New(%d, %v, %d): %s", events, per, burst, fault)
	}
	return l
}

// take takes a token if there is one, and returns how long to wait otherwise.
func take(b *bucket.Bucket, l bucket.Limit, now time.Time) time.Duration {
	wait := b.Wait(l, now)
	if wait == 0 {
		b.Take(l, now)
	}
	return wait
}

func TestBucket(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 2, time.Second, 3)
	var b bucket.Bucket
	var got []time.Duration
	for _, after := range []time.Duration{
		0, 0, 0, // the burst
		0, 200 * time.Millisecond, // nothing left
		500 * time.Millisecond, 500 * time.Millisecond, // one came back
		time.Hour, time.Hour, time.Hour, time.Hour, // never more than the burst
		0, // the clock was set back: as if empty, but not for an hour
	} {
		got = append(got, take(&b, l, began.Add(after)))
	}
	half := 500 * time.Millisecond
	want := []time.Duration{0, 0, 0, half, half - 200*time.Millisecond, 0, half, 0, 0, 0, half, half}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestBucketFull(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 1, time.Second, 5)
	var b bucket.Bucket
	if !b.Full(began) {
		t.Error("a new bucket is not full")
	}
	take(&b, l, began)
	if b.Full(began.Add(time.Second - 1)) {
		t.Error("full before the token came back")
	}
	if !b.Full(began.Add(time.Second)) {
		t.Error("not full when the token came back")
	}
}

func TestBucketGive(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := limit(t, 1, time.Second, 2)
	var b bucket.Bucket
	var got []time.Duration
	try := func(after time.Duration) { got = append(got, take(&b, l, began.Add(after))) }
	try(0)
	b.Give(l)
	try(0)
	try(0)
	try(0)
	b.Give(l)
	try(0)
	try(time.Hour)
	b.Give(l)
	b.Give(l) // of one that came back long ago
	for range 3 {
		try(time.Hour)
	}
	want := []time.Duration{0, 0, 0, time.Second, 0, 0, 0, 0, time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestNoLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b bucket.Bucket
	for range 1000 {
		if wait := take(&b, bucket.Limit{}, now); wait != 0 {
			t.Fatalf("want no wait, got %v", wait)
		}
	}
	if !b.Full(now) {
		t.Error("a bucket without limit is not full")
	}
}

// In no stretch of time are there more than the burst and what came back in it,
// and who waits as long as was said gets a token.
func TestBucketHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.IntRange(1, 1000).Draw(t, "events")
		per := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "per"))
		burst := rapid.IntRange(1, 50).Draw(t, "burst")
		l := limit(t, events, per, burst)
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		var b bucket.Bucket
		var taken []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(per)/int64(events)*2+1).Draw(t, "pause")))
			wait := take(&b, l, now)
			if wait > 0 && rapid.Bool().Draw(t, "obeys") {
				now = now.Add(wait)
				if again := take(&b, l, now); again != 0 {
					t.Fatalf("waited %v as told, and was told to wait %v more", wait, again)
				}
				wait = 0
			}
			if wait == 0 {
				taken = append(taken, now)
			}
		}
		for i, from := range taken {
			for j, to := range taken[i:] {
				if most := float64(burst) + float64(events)*float64(to.Sub(from))/float64(per); float64(j+1) > most+1e-6 {
					t.Fatalf("want at most %v in %v, got %d", most, to.Sub(from), j+1)
				}
			}
		}
	})
}
