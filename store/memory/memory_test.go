package memory_test

import (
	"testing"

	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Stores {
		s := memory.New()
		return storetest.Stores{
			Approvals: s, Audit: s, Keys: s.Keys(), Nonces: s.Nonces(), Replays: s.Replays(), Halts: s.Halts(), Rates: s,
			Version: s.Version, Expiring: s.Expiring, Advance: s.Advance,
		}
	})
}
