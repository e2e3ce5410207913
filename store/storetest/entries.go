package storetest

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// entryTests are about entries that stand or fall with what they tell of.
func entryTests() []test {
	return []test{
		{"an entry is added where something is done, and only there", func(t *testing.T, b bench) {
			var want []audit.Entry
			next := func() *audit.Entry { e := b.entry("w", uint64(len(want)+1)); return &e }
			step := func(name string, done bool, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if done {
					want = append(want, *next())
				}
				if diff := cmp.Diff(want, b.entries(t, audit.Query{Tenant: b.tenant})); diff != "" {
					t.Fatalf("entries after %s (-want +got):\n%s", name, diff)
				}
			}
			ctx, p := t.Context(), b.proposal("x")
			id := rand.Text()
			_, created, err := b.Approvals.Propose(ctx, id, p, approval.Caps{}, next())
			step("Propose", created, err)
			_, created, err = b.Approvals.Propose(ctx, rand.Text(), p, approval.Caps{}, next())
			step("Propose again", created, err)
			_, changed, err := b.Approvals.Reconsider(ctx, b.tenant, id, approval.Change{Preview: p.Preview, Version: p.Version}, next())
			step("Reconsider nothing", changed, err)
			_, changed, err = b.Approvals.Decide(ctx, b.tenant, id, b.decision("ann", approval.Approve), next())
			step("Approve", changed, err)
			_, changed, err = b.Approvals.Decide(ctx, b.tenant, id, b.decision("bob", approval.Deny), next())
			step("Deny too late", changed, err)
			_, changed, err = b.Approvals.Reconsider(ctx, b.tenant, id, approval.Change{Without: []string{b.decision("ann", 0).Decider}, Preview: p.Preview, Version: p.Version}, next())
			step("Reconsider", changed, err)
			c := claim(p, id)
			r, err := b.Audit.ClaimWith(ctx, c, *next())
			step("a claim that stands nowhere", r.Approval.ID == "", err)
			b.decide(t, id, "ann", approval.Approve)
			r, err = b.Audit.ClaimWith(ctx, c, *next())
			step("a claim", r.Approval.ID == "", err)
			again := claim(p, id)
			r, err = b.Audit.ClaimWith(ctx, again, *next())
			step("a second claim", r.Approval.ID == "", err)
			step("the end of the claim", true, b.Audit.FinishWith(ctx, c, ambit.Ending{Outcome: []byte("done")}, *next()))
			if err := b.Audit.FinishWith(ctx, c, ambit.Ending{Outcome: []byte("again")}, b.entry("w", 100)); err == nil {
				t.Error("FinishWith again, with another entry: want an error, got none")
			}
			step("a consent", true, b.Approvals.Consent(ctx, rand.Text(), p, b.decision("robot", approval.Deny), next()))
			r, err = b.Audit.ClaimWith(ctx, ambit.Claim{Attempt: attempt(), Binding: p.Binding, Lease: lease}, *next())
			step("a claim of nothing but an entry", r.State == ambit.RecordFree, err)
			step("the end of that", true, b.Audit.FinishWith(ctx, ambit.Claim{Attempt: attempt(), Binding: p.Binding}, ambit.Ending{}, *next()))
			g, err := b.Approvals.Give(ctx, b.grant(withBudget(1)), next())
			step("a grant", true, err)
			id = b.propose(t, b.proposal("y")).ID
			_, changed, err = b.Approvals.DecideByGrant(ctx, b.tenant, id, g.ID, digest("preview"), next())
			step("a decision by the grant", changed, err)
			_, changed, err = b.Approvals.DecideByGrant(ctx, b.tenant, id, g.ID, digest("preview"), next())
			step("that once more", changed, err)
			_, _, changed, err = b.Approvals.RevokeGrant(ctx, b.tenant, g.ID, b.decision("ann", approval.Revoke), next())
			step("its revocation", changed, err)
			_, _, changed, err = b.Approvals.RevokeGrant(ctx, b.tenant, g.ID, b.decision("ann", approval.Revoke), next())
			step("its revocation once more", changed, err)
			if got := len(want); got != 11 {
				t.Errorf("want 11 of the steps to be done, got %d", got)
			}
			b.stands(t, again, ambit.ProposalSucceeded, "done")
		}},
		{"nothing is done where the entry cannot be added", func(t *testing.T, b bench) {
			b.append(t, b.entry("w", 1))
			taken := b.entry("w", 1)
			ctx, p := t.Context(), b.proposal("x")
			id := rand.Text()
			if _, _, err := b.Approvals.Propose(ctx, id, p, approval.Caps{}, &taken); err == nil {
				t.Error("Propose: want an error, got none")
			}
			if got := b.list(t, approval.Filter{Tenant: b.tenant}); len(got) > 0 {
				t.Errorf("want no proposal, got %d", len(got))
			}
			id = b.propose(t, p).ID
			if _, _, err := b.Approvals.Decide(ctx, b.tenant, id, b.decision("ann", approval.Approve), &taken); err == nil {
				t.Error("Decide: want an error, got none")
			}
			b.state(t, id, ambit.ProposalPending)
			b.decide(t, id, "ann", approval.Approve)
			c := claim(p, id)
			c.Key = digest("key")
			if _, err := b.Audit.ClaimWith(ctx, c, taken); err == nil {
				t.Error("ClaimWith: want an error, got none")
			}
			b.state(t, id, ambit.ProposalApproved)
			b.found(t, ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}, ambit.RecordFree, "")
			b.take(t, c)
			if err := b.Audit.FinishWith(ctx, c, ambit.Ending{}, taken); err == nil {
				t.Error("FinishWith: want an error, got none")
			}
			b.state(t, id, ambit.ProposalExecuting)
			other := c
			other.Attempt = attempt()
			if err := b.Audit.FinishWith(ctx, other, ambit.Ending{}, b.entry("w", 2)); err == nil {
				t.Error("FinishWith of a claim that is not there: want an error, got none")
			}
			unkept := b.grant()
			if _, err := b.Approvals.Give(ctx, unkept, &taken); err == nil {
				t.Error("Give: want an error, got none")
			}
			if _, err := b.Approvals.Grant(ctx, b.tenant, unkept.ID); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("want no grant, got error %v", err)
			}
			g := b.give(t, b.grant())
			id = b.propose(t, b.proposal("y")).ID
			if _, _, err := b.Approvals.DecideByGrant(ctx, b.tenant, id, g.ID, digest("preview"), &taken); err == nil {
				t.Error("DecideByGrant: want an error, got none")
			}
			b.state(t, id, ambit.ProposalPending)
			b.used(t, g.ID, 0)
			b.byGrant(t, id, g.ID, true)
			if _, _, _, err := b.Approvals.RevokeGrant(ctx, b.tenant, g.ID, b.decision("ann", approval.Revoke), &taken); err == nil {
				t.Error("RevokeGrant: want an error, got none")
			}
			b.state(t, id, ambit.ProposalApproved)
			if n := len(b.entries(t, audit.Query{Tenant: b.tenant})); n != 1 {
				t.Errorf("want one entry, got %d", n)
			}
		}},
	}
}
