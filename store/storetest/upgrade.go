package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// RunUpgrade fills a store whose tables are of an earlier version, calls upgrade for
// one on the same tables, of the newest version, and checks that everything is there
// as it was, goes on, and takes grants. It needs a version that has proposals.
func RunUpgrade(t *testing.T, old approval.Store, upgrade func() approval.Store) {
	t.Helper()
	b := bench{Stores: Stores{Approvals: old}, tenant: "acme"}
	waits, p := b.propose(t, b.proposal("waits", withQuorum(2))).ID, b.proposal("approved")
	b.decide(t, waits, "ann", approval.Approve)
	approved := b.approved(t, p).ID
	done := b.proposal("done")
	c := claim(done, b.approved(t, done).ID)
	c.Key = digest("key")
	b.take(t, c)
	b.finish(t, c, "done")
	var before []approval.Record
	for _, id := range []string{waits, approved, c.Approval.ID} {
		before = append(before, b.get(t, id))
	}

	b.Approvals = upgrade()
	for _, want := range before {
		if diff := cmp.Diff(want, b.get(t, want.ID)); diff != "" {
			t.Errorf("a record (-before +after):\n%s", diff)
		}
	}
	c.Attempt = attempt()
	b.found(t, c, ambit.RecordFinished, "done")
	b.take(t, claim(p, approved))
	g := b.give(t, b.grant())
	b.byGrant(t, waits, g.ID, true)
	b.state(t, waits, ambit.ProposalApproved)
}
