package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
)

// The clock can be set ahead: here a call was claimed by a process that never
// came back.
func Example() {
	ctx, store := context.Background(), memory.New()
	claim := ambit.Claim{
		Attempt: ambit.Attempt{1}, Key: ambit.Digest{2}, Lease: time.Minute,
		Binding: ambit.Binding{Principal: "0:/6:apikey/robot", Capability: "notes.create"},
	}
	made, err := store.Claim(ctx, claim)
	fmt.Println(made.State == ambit.RecordFree, err)
	running, err := store.Find(ctx, claim)
	fmt.Println(running.State == ambit.RecordRunning, err)
	store.Advance(time.Minute)
	lost, err := store.Find(ctx, claim)
	fmt.Println(lost.State == ambit.RecordUnknown, err)
	// Output:
	// true <nil>
	// true <nil>
	// true <nil>
}
