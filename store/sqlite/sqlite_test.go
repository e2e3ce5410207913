package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child(lives(""))
	goleak.VerifyTestMain(leaktest.Patient(m))
}

func lives(path string) storetest.Lives {
	return storetest.Lives{
		Address: path,
		Open: func(ctx context.Context, path string) (storetest.ApprovalsAndAudit, func(), error) {
			s, err := sqlite.Open(ctx, path, sqlite.Options{})
			if err != nil {
				return nil, nil, err
			}
			return s, func() { _ = s.Close() }, nil
		},
		Advance: func(s storetest.ApprovalsAndAudit, by time.Duration) { s.(*sqlite.Store).Advance(by) },
	}
}

func stores(s *sqlite.Store) storetest.Stores {
	return storetest.Stores{
		Approvals: s, Audit: s, Keys: s.Keys(), Nonces: s.Nonces(), Replays: s.Replays(), Halts: s.Halts(), Rates: s,
		Version: s.Version, Expiring: s.Expiring, Advance: s.Advance,
	}
}

func TestT17_Killed(t *testing.T) {
	t.Parallel()
	storetest.RunKilled(t, lives(filepath.Join(t.TempDir(), "killed.db")))
}
