package mcp

import "testing"

func TestRevisions(t *testing.T) {
	t.Parallel()
	for r := revision20250326; r <= newest; r++ {
		if got := revisionOf(r.String()); got != r {
			t.Errorf("%s: want %d, got %d", r, r, got)
		}
	}
	if got := revision(0).String(); got != "" {
		t.Errorf("no revision: want no date, got %q", got)
	}
}
