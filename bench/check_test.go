package bench_test

import (
	"strings"
	"testing"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// BenchmarkCheck is the verdict alone, on the valid order. The peers get a map
// that was decoded beforehand; Ambit's first side reads the bytes, which is more
// work, and its second the Go value.
func BenchmarkCheck(b *testing.B) {
	for _, v := range validators() {
		if v.check == nil {
			continue
		}
		b.Run(v.name, func(b *testing.B) {
			requireVerdicts(b, v)
			prepared, err := v.prepare([]byte(workload.ValidJSON))
			if err != nil {
				b.Fatal(err)
			}
			meter(b)
			for b.Loop() {
				if !v.check(prepared) {
					b.Fatal("the valid order is refused")
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, v := range validators() {
		if v.check == nil {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			requireVerdicts(t, v)
		})
	}
}

// requireVerdicts fails unless the side judges a number of orders as every
// other side has to judge them.
func requireVerdicts(tb testing.TB, v validator) {
	tb.Helper()
	for _, c := range []struct {
		name     string
		old, new string // what to replace in the valid order
		want     bool
		shape    bool // the fault is one that a Go value can't have
	}{
		{name: "untouched", want: true},
		{name: "optional field missing", old: `,"due":"2027-03-01T09:30:00Z"`, want: true},
		{name: "required field missing", old: `"urgent":true,`, shape: true},
		{name: "unknown field", old: `"zip":"10115"`, new: `"zip":"10115","state":"B"`, shape: true},
		{name: "fraction for an integer", old: `25`, new: `25.5`, shape: true},
		{name: "text for a boolean", old: `true`, new: `"true"`, shape: true},
		{name: "above the maximum", old: `25`, new: `101`},
		{name: "below the minimum", old: `25`, new: `0`, shape: true}, // in a Go value zero is the default
		{name: "not in the enum", old: `"replace"`, new: `"Replace"`},
		{name: "no tags", old: `["pump","north","spare"]`, new: `[]`, want: true},
		{name: "empty tag", old: `"north"`, new: `""`},
		{name: "too many tags", old: `"north"`, new: `"a","b","c","d","e","f","g","h","i"`},
		{name: "zip too short", old: `"10115"`, new: `"1011"`},
		{name: "title of 200 letters of two bytes", old: `Replace pump seal`, new: strings.Repeat("é", 200), want: true},
		{name: "title too long", old: `Replace pump seal`, new: strings.Repeat("é", 201)},
	} {
		if c.shape && v.values {
			continue
		}
		if !strings.Contains(workload.ValidJSON, c.old) {
			tb.Fatalf("%s: the valid order has no %s", c.name, c.old)
		}
		prepared, err := v.prepare([]byte(strings.Replace(workload.ValidJSON, c.old, c.new, 1)))
		if err != nil {
			tb.Fatalf("%s: %v", c.name, err)
		}
		if got := v.check(prepared); got != c.want {
			tb.Fatalf("%s: %s says valid: %t, want %t", c.name, v.name, got, c.want)
		}
	}
}
