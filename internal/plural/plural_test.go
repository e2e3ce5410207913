package plural_test

import (
	"testing"

	"github.com/ambit-dev/ambit/internal/plural"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 findings", 1: "1 finding", 2: "2 findings", -1: "-1 findings"} {
		if got := plural.Of(n, "finding"); want != got {
			t.Errorf("%d: want %q, got %q", n, want, got)
		}
	}
}
