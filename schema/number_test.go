package schema

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var numerals = rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?([eE][-+]?[0-9]{1,2})?`)

func rational(t *rapid.T, literal string) *big.Rat {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		t.Fatalf("bad generator: %s", literal)
	}
	return r
}

// TestDecimals compares the arithmetic on literals with that of math/big.
func TestDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := numerals.Draw(t, "x"), numerals.Draw(t, "y")
		if rapid.Bool().Draw(t, "near") {
			y = x + "0"
			if rational(t, x).IsInt() {
				y = x
			}
		}
		d, e := parseDecimal([]byte(x)), parseDecimal([]byte(y))
		r, q := rational(t, x), rational(t, y)
		if got, want := d.compare(&e), r.Cmp(q); got != want {
			t.Fatalf("compare %s with %s: want %d, got %d", x, y, want, got)
		}
		if got, want := d.integral(), r.IsInt(); got != want {
			t.Fatalf("%s is an integer: want %v, got %v", x, want, got)
		}
		if i, ok := d.int64(); ok != (r.IsInt() && r.Num().IsInt64()) || ok && i != r.Num().Int64() {
			t.Fatalf("%s as int64: got %d, %v", x, i, ok)
		}
		if u, ok := d.uint64(); ok != (r.IsInt() && r.Num().IsUint64()) || ok && u != r.Num().Uint64() {
			t.Fatalf("%s as uint64: got %d, %v", x, u, ok)
		}
		floor := new(big.Int).Div(r.Num(), r.Denom())
		if i, ok := d.floor(); ok && i != floor.Int64() || !ok && floor.IsInt64() && floor.BitLen() < 63 {
			t.Fatalf("%s rounded down: want %s, got %d, %v", x, floor, i, ok)
		}
		if checkStep(newLimit([]byte(y))) == nil {
			if got, want := d.multipleOf(&e), new(big.Rat).Quo(r, q).IsInt(); got != want {
				t.Fatalf("%s is a multiple of %s: want %v, got %v", x, y, want, got)
			}
		}
	})
}

// TestIntegerBounds compares the quick check of integers with the exact one.
func TestIntegerBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := numberRules{}
		for _, rule := range rules.limits() {
			if rapid.Bool().Draw(t, rule.name) {
				l := newLimit([]byte(numerals.Draw(t, "limit")))
				if rule.name != "multipleOf" || checkStep(l) == nil {
					*rule.to = l
				}
			}
		}
		rules.seal()
		i := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20, 20)).Draw(t, "i")
		d := parseDecimal(appendInt(nil, i))
		_, broken := rules.number(&d)
		if rules.integer(i) && broken != nil {
			t.Fatalf("%d passes the quick check and breaks %s", i, broken.text)
		}
	})
}
