package wire

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// sameHits reports how the JSON text differs from the answer to the valid
// order. The order of the members doesn't count, their names and values do.
func sameHits(text []byte) error {
	want, err := json.Marshal(workload.Find(workload.ValidOrder()))
	if err != nil {
		return err
	}
	var wantValue, gotValue any
	if err := json.Unmarshal(want, &wantValue); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &gotValue); err != nil {
		return err
	}
	if diff := cmp.Diff(wantValue, gotValue); diff != "" {
		return fmt.Errorf("wrong hits (-want +got):\n%s", diff)
	}
	return nil
}
