package bucket

import (
	"iter"
	"maps"
	"time"
)

// Idle values are looked for when the table has grown to twice what was left
// the last time, and once in a while.
const (
	sweepEvery = time.Minute
	fewest     = 16
)

// Table keeps a value for each key and forgets the idle ones, a short while
// after they have become so. Make one with [NewTable]. It must not be used by
// two goroutines at once.
type Table[K comparable, V any] struct {
	idle   func(*V, time.Time) bool
	most   int
	values map[K]*V
	grown  int       // the size at which to look for idle values
	swept  time.Time // when that was done last
}

// NewTable returns an empty table. Idle reports whether a value is as good as a
// new one; it may tidy the value up. Most is how many values are kept at the
// same time; beyond it some value is forgotten for each new one, idle or not.
// Zero: any number.
func NewTable[K comparable, V any](idle func(*V, time.Time) bool, most int) Table[K, V] {
	return Table[K, V]{idle: idle, most: most, values: map[K]*V{}, grown: fewest}
}

// Len returns how many values there are.
func (t *Table[K, V]) Len() int { return len(t.values) }

// All returns the values that there are, in no order.
func (t *Table[K, V]) All() iter.Seq2[K, *V] { return maps.All(t.values) }

// Find returns the value of a key, nil where there is none.
func (t *Table[K, V]) Find(key K) *V { return t.values[key] }

// At returns the value of a key, made now where there was none. It may be used
// until At is called again.
func (t *Table[K, V]) At(key K, now time.Time) *V {
	age := now.Sub(t.swept)
	if age >= sweepEvery || age < 0 || len(t.values) >= t.grown {
		t.sweep(now)
	}
	v := t.values[key]
	if v == nil {
		if t.most > 0 && len(t.values) >= t.most {
			t.forgetAny()
		}
		v = new(V)
		t.values[key] = v
	}
	return v
}

// sweep moves what is not idle to a new map, since one that has grown never
// shrinks. A table that is full of what is not idle is left alone until the
// next time, or else each new key would cost a sweep.
func (t *Table[K, V]) sweep(now time.Time) {
	busy := make(map[K]*V)
	for key, v := range t.values {
		if !t.idle(v, now) {
			busy[key] = v
		}
	}
	t.values, t.swept, t.grown = busy, now, max(fewest, 2*len(busy))
}

// forgetAny forgets the value that the map names first, which is any.
func (t *Table[K, V]) forgetAny() {
	for key := range t.values {
		delete(t.values, key)
		return
	}
}
