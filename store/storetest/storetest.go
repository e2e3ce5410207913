package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Stores are the parts of one store. The tests of those that are nil are skipped;
// tests of claims that go with an entry need both Approvals and Audit, on the
// same records.
type Stores struct {
	// Approvals keeps proposals and claims.
	Approvals approval.Store
	// Audit keeps entries.
	Audit audit.Store
	// Keys keeps API keys.
	Keys apikey.Store
	// Nonces remembers the nonces of agents' signatures.
	Nonces Nonces
	// Replays remembers proofs of possession.
	Replays Replays
	// Halts is a form of the halt switch.
	Halts ambit.HaltSwitch
	// Rates meters what instances share.
	Rates ambit.SharedRates
	// Version returns a text about the row that holds a proposal, another one each
	// time that the row has been written. Nil: the store cannot tell, and writes
	// that change nothing are not noticed.
	Version func(ctx context.Context, id string) (string, error)
	// Expiring counts what the store keeps for a time: keys of calls, nonces, proofs
	// and buckets, those included whose time is over. Nil: the store cannot tell, and
	// tests that such things go are skipped.
	Expiring func(ctx context.Context) (int, error)
	// Advance sets the clock of the store ahead, as far as this store object is
	// concerned. Required.
	Advance func(time.Duration)
}

// Nonces is what package trust/webbotauth asks of a store.
type Nonces interface {
	// Record notes a nonce of an agent until a time, and reports whether it was
	// not noted before.
	Record(ctx context.Context, agent, nonce string, until time.Time) (fresh bool, err error)
}

// Replays is what package trust/oauth asks of a store.
type Replays interface {
	// Record notes a key until a time, and reports whether it was not noted
	// before.
	Record(ctx context.Context, key string, until time.Time) (fresh bool, err error)
}

// Run runs the suite. Each test calls open for an empty store, which open closes
// with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Stores) {
	t.Helper()
	for _, test := range []struct {
		name  string
		needs func(Stores) bool
		tests []test
	}{
		{"keys of calls", func(s Stores) bool { return s.Approvals != nil }, ledgerTests()},
		{"proposals", func(s Stores) bool { return s.Approvals != nil }, proposalTests()},
		{"decisions", func(s Stores) bool { return s.Approvals != nil }, decisionTests()},
		{"grants", func(s Stores) bool { return s.Approvals != nil }, grantTests()},
		{"claims", func(s Stores) bool { return s.Approvals != nil }, claimTests()},
		{"lists", func(s Stores) bool { return s.Approvals != nil }, listTests()},
		{"races", func(s Stores) bool { return s.Approvals != nil }, raceTests()},
		{"properties", func(s Stores) bool { return s.Approvals != nil }, propertyTests()},
		{"audit", func(s Stores) bool { return s.Audit != nil }, auditTests()},
		{"audit records", func(s Stores) bool { return s.Audit != nil }, recordTests()},
		{"claims with entries", func(s Stores) bool { return s.Approvals != nil && s.Audit != nil }, entryTests()},
		{"API keys", func(s Stores) bool { return s.Keys != nil }, keyTests()},
		{"nonces", func(s Stores) bool { return s.Nonces != nil }, nonceTests()},
		{"replays", func(s Stores) bool { return s.Replays != nil }, replayTests()},
		{"halts", func(s Stores) bool { return s.Halts != nil }, haltTests()},
		{"rates", func(s Stores) bool { return s.Rates != nil }, rateTests()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, each := range test.tests {
				t.Run(each.name, func(t *testing.T) {
					t.Parallel()
					stores := open(t)
					if !test.needs(stores) {
						t.Skip("the store has no such part")
					}
					each.run(t, bench{Stores: stores, tenant: "acme"})
				})
			}
		})
	}
}

// test is one of the suite's.
type test struct {
	name string
	run  func(t *testing.T, b bench)
}
