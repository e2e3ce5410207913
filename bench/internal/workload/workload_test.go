package workload_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// The published figures speak of about 195 bytes in and about 600 bytes out.
func TestSizes(t *testing.T) {
	t.Parallel()
	if got := len(workload.ValidJSON); got < 190 || got > 200 {
		t.Errorf("the order has %d bytes, want 190 to 200", got)
	}
	answer, err := json.Marshal(workload.Find(workload.ValidOrder()))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(answer); got < 580 || got > 620 {
		t.Errorf("the answer has %d bytes, want 580 to 620", got)
	}
}

func TestValidOrderIsValidJSON(t *testing.T) {
	t.Parallel()
	var got workload.Order
	if err := json.Unmarshal([]byte(workload.ValidJSON), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(workload.ValidOrder(), got); diff != "" {
		t.Errorf("the bytes and the value differ (-want +got):\n%s", diff)
	}
}
