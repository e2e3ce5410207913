package storetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/store/storetest"
)

// open returns the parts of a new store. A part that a store does not have is
// left out.
func open() storetest.Stores {
	s := memory.New()
	return storetest.Stores{
		Approvals: s, Audit: s, Keys: s.Keys(), Nonces: s.Nonces(), Replays: s.Replays(), Halts: s.Halts(), Rates: s,
		Advance: s.Advance,
	}
}

// A store is handed to the suite in its parts, new for each test.
func ExampleRun() {
	_ = func(t *testing.T) { // the application's TestStore
		storetest.Run(t, func(*testing.T) storetest.Stores { return open() })
	}
	parts := open()
	for range 2 {
		fresh, err := parts.Nonces.Record(context.Background(), "https://agent.example", "n-1", time.Now().Add(time.Minute))
		fmt.Println(fresh, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
