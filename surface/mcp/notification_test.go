package mcp

import (
	"math"
	"strings"
	"testing"
)

func TestAppendNumber(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{0: "0", 0.5: "0.5", 100: "100", -1: "-1", 1e20: "100000000000000000000", 1e21: "1e+21", math.SmallestNonzeroFloat64: "0." + strings.Repeat("0", 323) + "5"} {
		if got := string(appendNumber(nil, f)); got != want {
			t.Errorf("%v: want %s, got %s", f, want, got)
		}
	}
}
