// Package bucket meters what may happen only so often. A [Bucket] holds tokens
// that come back at the pace of a [Limit]; a [Table] keeps a bucket, or a value
// with buckets in it, for each of many keys and forgets those that are as good
// as new.
//
// A bucket is one number, the time at which it will be full again (the generic
// cell rate algorithm), so that a hundred thousand of them are small, and an
// idle one can be told from a busy one without any bookkeeping.
package bucket

import "time"

// longest is how long a bucket may take to fill.
const longest = 366 * 24 * time.Hour

// Limit is how many tokens a bucket holds and how fast they come back. The zero
// Limit is none: buckets never run out.
type Limit struct {
	interval time.Duration // in which one token comes back
	depth    time.Duration // in which an empty bucket fills
}

// Unlimited as the number of events makes [New] return the zero Limit.
const Unlimited = -1

// New returns the limit of so many events in a time, evenly, and of burst at
// once; zero burst is as many as events. Fault says what is wrong with the
// numbers, under the names Calls, Per and Burst; it is empty where nothing is.
func New(events int, per time.Duration, burst int) (l Limit, fault string) {
	switch {
	case events == Unlimited && per == 0 && burst == 0:
		return Limit{}, ""
	case events <= 0:
		return Limit{}, "Calls is not above zero"
	case per <= 0:
		return Limit{}, "Per is not above zero"
	case burst < 0:
		return Limit{}, "Burst is negative"
	}
	if burst == 0 {
		burst = events
	}
	l.interval = (per-1)/time.Duration(events) + 1 // rounded up: never more than was said
	if time.Duration(burst) > longest/l.interval {
		return Limit{}, "Burst takes more than a year to come back"
	}
	l.depth = time.Duration(burst) * l.interval
	return l, ""
}

// Bucket holds tokens. The zero Bucket is full. It must be used with one Limit
// only, and not by two goroutines at once.
type Bucket struct {
	full int64 // when it will be: Unix time in nanoseconds
}

// Wait returns how long it takes until there is a token; zero means that there
// is one.
func (b *Bucket) Wait(l Limit, now time.Time) time.Duration {
	if l.interval == 0 {
		return 0
	}
	return max(0, b.missing(l, now)+l.interval-l.depth)
}

// Take takes a token. It must be there: ask Wait first.
func (b *Bucket) Take(l Limit, now time.Time) {
	if l.interval > 0 {
		b.full = now.UnixNano() + int64(b.missing(l, now)+l.interval)
	}
}

// Give gives back a token that was taken. One that has come back by itself
// meanwhile adds none.
func (b *Bucket) Give(l Limit) { b.full -= int64(l.interval) }

// Full reports whether the bucket is as good as new.
func (b *Bucket) Full(now time.Time) bool { return b.full <= now.UnixNano() }

// missing is how long the bucket takes to fill: at most as long as an empty one,
// even where the clock has been set back.
func (b *Bucket) missing(l Limit, now time.Time) time.Duration {
	return min(max(0, time.Duration(b.full-now.UnixNano())), l.depth)
}
