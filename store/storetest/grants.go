package storetest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// grant is one for ten calls of the suite's proposals, given by boss for a day.
func (b bench) grant(edits ...func(*approval.Grant)) approval.Grant {
	of := b.proposal("").Binding
	given := b.decision("boss", approval.Approve)
	given.Preview = ambit.Digest{}
	g := approval.Grant{
		ID: rand.Text(), Tenant: of.Tenant, Principal: of.Principal, Client: of.Client, Agent: of.Agent, Capability: of.Capability, Contract: of.Contract,
		Input: json.RawMessage(`{"properties":{"folder":{"pattern":"^<a>& "}}}`), Until: time.Now().Add(day).UTC().Truncate(time.Microsecond), Budget: 10,
		DecidePermission: "approvals:decide", Given: given,
	}
	for _, edit := range edits {
		edit(&g)
	}
	return g
}

const day = 24 * time.Hour

func withBudget(n int) func(*approval.Grant) { return func(g *approval.Grant) { g.Budget = n } }

// give keeps a grant that has to be taken.
func (b bench) give(t *testing.T, g approval.Grant) approval.Grant {
	t.Helper()
	given, err := b.Approvals.Give(t.Context(), g, nil)
	if err != nil {
		t.Fatalf("Give: %v", err)
	}
	return given
}

// byGrant lets a grant decide about a proposal, and checks whether that counts.
func (b bench) byGrant(t *testing.T, id, grant string, want bool) approval.Record {
	t.Helper()
	r, changed, err := b.Approvals.DecideByGrant(t.Context(), b.tenant, id, grant, digest("preview"), nil)
	if err != nil || changed != want {
		t.Errorf("DecideByGrant: want changed %t, got %t, error %v, state %s", want, changed, err, r.State)
	}
	return r
}

// used checks how many calls of a grant are used.
func (b bench) used(t *testing.T, id string, want int) {
	t.Helper()
	if g, err := b.Approvals.Grant(t.Context(), b.tenant, id); err != nil || g.Used != want {
		t.Errorf("calls of the grant that are used: want %d, got %d, error %v", want, g.Used, err)
	}
}

// revokeGrant ends a grant, and returns the records that lose its word.
func (b bench) revokeGrant(t *testing.T, id string) []approval.Record {
	t.Helper()
	g, lost, changed, err := b.Approvals.RevokeGrant(t.Context(), b.tenant, id, b.decision("ann", approval.Revoke), nil)
	if err != nil || !changed || g.Revoked.At.IsZero() {
		t.Fatalf("RevokeGrant: changed %t, error %v, revoked %s", changed, err, g.Revoked.At)
	}
	return lost
}

// grantTests are about what was allowed in advance.
func grantTests() []test {
	return []test{
		{"a grant is kept as it was given", func(t *testing.T, b bench) {
			g := b.grant()
			given := b.give(t, g)
			g.Given.At = time.Now()
			if diff := cmp.Diff(g, given, near()); diff != "" {
				t.Errorf("Give (-want +got):\n%s", diff)
			}
			kept, err := b.Approvals.Grant(t.Context(), b.tenant, g.ID)
			if diff := cmp.Diff(given, kept); err != nil || diff != "" {
				t.Errorf("Grant returns another one than Give, error %v (-Give +Grant):\n%s", err, diff)
			}
			if _, err := b.Approvals.Give(t.Context(), b.grant(func(other *approval.Grant) { other.ID = g.ID }), nil); err == nil {
				t.Error("Give under an id that is taken: want an error")
			}
		}},
		{"a grant approves what it covers, by its granter's word, once", func(t *testing.T, b bench) {
			g := b.give(t, b.grant())
			p := b.proposal("x")
			id := b.propose(t, p).ID
			r := b.byGrant(t, id, g.ID, true)
			want := g.Given
			want.Preview, want.At, want.Grant, want.Until = digest("preview"), time.Now(), g.ID, g.Until
			if diff := cmp.Diff([]approval.Decision{want}, r.Decisions, near()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if r.State != ambit.ProposalApproved || !r.ExecuteBy.Equal(r.Decisions[0].At.Add(executeWithin)) {
				t.Errorf("want it approved for %s, got %s until %s", executeWithin, r.State, r.ExecuteBy)
			}
			if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
				t.Errorf("Get returns another record (-DecideByGrant +Get):\n%s", diff)
			}
			b.byGrant(t, id, g.ID, false)
			b.take(t, claim(p, id))
			b.byGrant(t, id, g.ID, false)
			b.used(t, g.ID, 1)
		}},
		{"a grant says nothing about what it does not cover", outsideOfGrants},
		{"a granter counts once, and a quorum takes others", quorumWithGrants},
		{"a grant ends by the store's clock, and its word with it", func(t *testing.T, b bench) {
			g := b.give(t, b.grant())
			both := b.propose(t, b.proposal("both", withQuorum(2))).ID
			b.byGrant(t, both, g.ID, true)
			b.Advance(day - 5*time.Minute)
			p := b.proposal("x")
			r := b.byGrant(t, b.propose(t, p).ID, g.ID, true)
			if want := g.Until; !r.ExecuteBy.Equal(want) {
				t.Errorf("want it approved until the grant ends at %s, got %s", want, r.ExecuteBy)
			}
			again := b.propose(t, b.proposal("both", withQuorum(2))).ID
			if again != both || len(b.get(t, both).Decisions) != 1 {
				t.Fatalf("want the word to count until the grant ends, got %d decisions", len(b.get(t, both).Decisions))
			}
			b.Advance(5 * time.Minute)
			b.byGrant(t, b.propose(t, b.proposal("y")).ID, g.ID, false)
			b.state(t, r.ID, ambit.ProposalExpired)
			b.stands(t, claim(p, r.ID), ambit.ProposalExpired, "")
			b.used(t, g.ID, 2)
			if _, _, changed, err := b.Approvals.RevokeGrant(t.Context(), b.tenant, g.ID, b.decision("ann", approval.Revoke), nil); changed || err != nil {
				t.Errorf("RevokeGrant of what has expired: want no change, got %t, %v", changed, err)
			}
		}},
		{"a pending record loses the word of a grant that has ended", func(t *testing.T, b bench) {
			g := b.give(t, b.grant(func(g *approval.Grant) { g.Until = time.Now().Add(time.Hour) }))
			id := b.propose(t, b.proposal("x", withQuorum(2))).ID
			b.byGrant(t, id, g.ID, true)
			b.Advance(2 * time.Hour)
			if n := len(b.get(t, id).Decisions); n != 0 {
				t.Errorf("want no decision left, got %d", n)
			}
			b.decide(t, id, "ann", approval.Approve)
			b.state(t, id, ambit.ProposalPending)
			b.decide(t, id, "boss", approval.Approve)
			b.state(t, id, ambit.ProposalApproved)
		}},
		{"revoking a grant takes back what no call has claimed", revokedGrants},
		{"of 100 calls that a grant for 10 covers, 10 are approved", func(t *testing.T, b bench) {
			g := b.give(t, b.grant())
			approved := 0
			for _, changed := range together(100, func(i int) bool {
				id := b.propose(t, b.proposal(fmt.Sprint(i))).ID
				_, changed, err := b.Approvals.DecideByGrant(t.Context(), b.tenant, id, g.ID, digest("preview"), nil)
				if err != nil {
					t.Errorf("DecideByGrant: %v", err)
				}
				return changed
			}) {
				approved += count(changed)
			}
			if states := len(b.list(t, approval.Filter{Tenant: b.tenant, States: []ambit.ProposalState{ambit.ProposalApproved}})); approved != 10 || states != 10 {
				t.Errorf("want 10 approved, got %d, of which %d are on record", approved, states)
			}
			b.used(t, g.ID, 10)
			if got := b.grants(t, approval.GrantFilter{Tenant: b.tenant, Live: true}); len(got) != 0 {
				t.Errorf("want no live grant left, got %d", len(got))
			}
		}},
		{"of 32 who ask for one call, one spends", func(t *testing.T, b bench) {
			g := b.give(t, b.grant())
			id := b.propose(t, b.proposal("x")).ID
			spent := 0
			for _, changed := range together(32, func(int) bool {
				r, changed, err := b.Approvals.DecideByGrant(t.Context(), b.tenant, id, g.ID, digest("preview"), nil)
				if err != nil || r.State != ambit.ProposalApproved {
					t.Errorf("DecideByGrant: want it approved, got %s, error %v", r.State, err)
				}
				return changed
			}) {
				spent += count(changed)
			}
			if spent != 1 {
				t.Errorf("want one to spend, got %d", spent)
			}
			b.used(t, g.ID, 1)
		}},
		{"a grant is revoked or its call runs, never both", func(t *testing.T, b bench) {
			for i := range 20 {
				g := b.give(t, b.grant())
				p := b.proposal(fmt.Sprint(i))
				id := b.propose(t, p).ID
				b.byGrant(t, id, g.ID, true)
				done := together(2, func(i int) bool {
					if i == 0 {
						return len(b.revokeGrant(t, g.ID)) == 1
					}
					r, err := b.Approvals.Claim(t.Context(), claim(p, id))
					return err == nil && r.Approval.ID == ""
				})
				if done[0] == done[1] {
					t.Errorf("want it either taken back or run, got %t and %t", done[0], done[1])
				}
			}
		}},
		{"a revoked grant approves nothing, however many try", func(t *testing.T, b bench) {
			for range 10 {
				g := b.give(t, b.grant(withBudget(64)))
				var ids []string
				for i := range 8 {
					ids = append(ids, b.propose(t, b.proposal(g.ID+fmt.Sprint(i))).ID)
				}
				together(9, func(i int) bool {
					if i == 8 {
						b.revokeGrant(t, g.ID)
						return true
					}
					_, changed, err := b.Approvals.DecideByGrant(t.Context(), b.tenant, ids[i], g.ID, digest("preview"), nil)
					if err != nil {
						t.Errorf("DecideByGrant: %v", err)
					}
					return changed
				})
				for _, id := range ids {
					if state := b.get(t, id).State; state == ambit.ProposalApproved {
						t.Errorf("want nothing left that is approved, got %s", state)
					}
				}
			}
		}},
		{"grants are listed by whom and what they are for", listedGrants},
		{"grants are forgotten that have ended for so long", func(t *testing.T, b bench) {
			short := b.give(t, b.grant(func(g *approval.Grant) { g.Until = time.Now().Add(time.Hour) }))
			revoked, long := b.give(t, b.grant(untilNextMonth)), b.give(t, b.grant(untilNextMonth))
			b.revokeGrant(t, revoked.ID)
			for _, after := range []struct{ wait, want int }{{47, 3}, {2, 1}} {
				b.Advance(time.Duration(after.wait) * time.Hour)
				if _, err := b.Approvals.Forget(t.Context(), 47*time.Hour+30*time.Minute); err != nil {
					t.Fatal(err)
				}
				if got := len(b.grants(t, approval.GrantFilter{Tenant: b.tenant})); got != after.want {
					t.Errorf("%d hours later: want %d grants, got %d", after.wait, after.want, got)
				}
			}
			if _, err := b.Approvals.Grant(t.Context(), b.tenant, short.ID); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Grant: want ErrNotFound, got %v", err)
			}
			b.byGrant(t, b.propose(t, b.proposal("x")).ID, long.ID, true)
		}},
	}
}

func untilNextMonth(g *approval.Grant) { g.Until = time.Now().Add(30 * day) }

func outsideOfGrants(t *testing.T, b bench) {
	g := b.give(t, b.grant())
	for name, edit := range map[string]func(*ambit.Proposal){
		"another principal":         func(p *ambit.Proposal) { p.Binding.Principal = "4:acme/6:apikey/other" },
		"another client":            func(p *ambit.Proposal) { p.Binding.Client = "" },
		"another agent":             func(p *ambit.Proposal) { p.Binding.Agent = "https://other.example/" },
		"another capability":        func(p *ambit.Proposal) { p.Binding.Capability = "notes.delete" },
		"another contract":          func(p *ambit.Proposal) { p.Binding.Contract = digest("another") },
		"what its caller confirms":  atLevel(ambit.Confirm),
		"another preview than that": func(p *ambit.Proposal) { p.Preview = digest("another") },
	} {
		id := b.propose(t, b.proposal(name, edit)).ID
		if r := b.byGrant(t, id, g.ID, false); len(r.Decisions) != 0 || r.State != ambit.ProposalPending {
			t.Errorf("%s: want it to wait, got %s with %d decisions", name, r.State, len(r.Decisions))
		}
	}
	for name, state := range map[string]ambit.ProposalState{"denied": ambit.ProposalDenied, "revoked": ambit.ProposalRevoked, "approved": ambit.ProposalApproved, "executed": ambit.ProposalSucceeded, "lost": ambit.ProposalUnknown} {
		id, _ := b.bring(t, b.proposal(name), state)
		b.byGrant(t, id, g.ID, false)
		b.state(t, id, state)
	}
	id := b.propose(t, b.proposal("x")).ID
	spent := b.give(t, b.grant(withBudget(1)))
	b.byGrant(t, b.propose(t, b.proposal("y")).ID, spent.ID, true)
	b.byGrant(t, id, spent.ID, false)
	other := b
	other.tenant = "other"
	elsewhere := other.give(t, other.grant())
	for _, missing := range []struct{ tenant, id, grant string }{
		{b.tenant, id, rand.Text()},
		{b.tenant, rand.Text(), g.ID},
		{b.tenant, id, elsewhere.ID},
		{other.tenant, id, elsewhere.ID},
	} {
		if _, _, err := b.Approvals.DecideByGrant(t.Context(), missing.tenant, missing.id, missing.grant, digest("preview"), nil); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("DecideByGrant(%+v): want ErrNotFound, got %v", missing, err)
		}
	}
	for _, missing := range []string{rand.Text(), elsewhere.ID} {
		if _, err := b.Approvals.Grant(t.Context(), b.tenant, missing); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("Grant: want ErrNotFound, got %v", err)
		}
		if _, _, _, err := b.Approvals.RevokeGrant(t.Context(), b.tenant, missing, b.decision("ann", approval.Revoke), nil); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("RevokeGrant: want ErrNotFound, got %v", err)
		}
	}
	b.used(t, g.ID, 0)
	b.state(t, id, ambit.ProposalPending)
}

func quorumWithGrants(t *testing.T, b bench) {
	g, second := b.give(t, b.grant()), b.give(t, b.grant())
	id := b.propose(t, b.proposal("x", withQuorum(3))).ID
	b.byGrant(t, id, g.ID, true)
	b.byGrant(t, id, second.ID, false) // the same granter
	if r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision("boss", approval.Approve), nil); err != nil || changed {
		t.Errorf("Decide by the granter as well: want no change, got %t, %v, %d decisions", changed, err, len(r.Decisions))
	}
	other := b.give(t, b.grant(func(g *approval.Grant) { g.Given = b.decision("eve", approval.Approve) }))
	b.byGrant(t, id, other.ID, true)
	b.state(t, id, ambit.ProposalPending)
	b.decide(t, id, "ann", approval.Approve)
	b.state(t, id, ambit.ProposalApproved)
	b.used(t, g.ID, 1)
	b.used(t, second.ID, 0)

	id = b.propose(t, b.proposal("y", withQuorum(2))).ID
	b.byGrant(t, id, g.ID, true)
	b.decide(t, id, "ann", approval.Deny)
	b.state(t, id, ambit.ProposalDenied)
}

func revokedGrants(t *testing.T, b bench) {
	g, other := b.give(t, b.grant()), b.give(t, b.grant())
	approved := b.propose(t, b.proposal("approved")).ID
	pending := b.propose(t, b.proposal("pending", withQuorum(2))).ID
	p := b.proposal("running")
	running := b.propose(t, p).ID
	byOther, byHand := b.propose(t, b.proposal("other")).ID, b.propose(t, b.proposal("by hand")).ID
	for _, id := range []string{approved, pending, running} {
		b.byGrant(t, id, g.ID, true)
	}
	b.byGrant(t, byOther, other.ID, true)
	b.decide(t, byHand, "boss", approval.Approve)
	b.Advance(30 * time.Second)
	since := b.get(t, pending).DecideBy
	c := claim(p, running)
	b.take(t, c)
	back := b.proposal("given back")
	givenBack := claim(back, b.propose(t, back).ID)
	b.byGrant(t, givenBack.Approval.ID, g.ID, true)
	b.take(t, givenBack)

	lost := b.revokeGrant(t, g.ID)
	if len(lost) != 2 || lost[0].ID != approved || lost[1].ID != pending {
		t.Errorf("want the approved and the pending record to lose its word, got %d", len(lost))
	}
	for _, r := range lost {
		if diff := cmp.Diff(r, b.get(t, r.ID)); diff != "" {
			t.Errorf("Get returns another record (-RevokeGrant +Get):\n%s", diff)
		}
	}
	r := b.get(t, approved)
	if last := r.Decisions[len(r.Decisions)-1]; r.State != ambit.ProposalRevoked || last.Verdict != approval.Revoke || last.Name != "ann" || last.Grant != g.ID || last.Reason != "because" {
		t.Errorf("want it revoked with the grant, by ann, got %s by %+v", r.State, last)
	}
	b.stands(t, claim(b.proposal("approved"), approved), ambit.ProposalRevoked, "")
	if r := b.get(t, pending); r.State != ambit.ProposalPending || len(r.Decisions) != 0 || !r.DecideBy.After(since) {
		t.Errorf("want it pending and undecided, with more time than until %s, got %s with %d decisions until %s", since, r.State, len(r.Decisions), r.DecideBy)
	}
	b.finish(t, c, "done")
	b.state(t, running, ambit.ProposalSucceeded)
	if err := b.Approvals.Release(t.Context(), givenBack); err != nil {
		t.Errorf("Release: %v", err)
	}
	b.state(t, givenBack.Approval.ID, ambit.ProposalExpired)
	b.stands(t, givenBack, ambit.ProposalExpired, "")
	if r := b.propose(t, back); r.ID == givenBack.Approval.ID || r.State != ambit.ProposalPending {
		t.Errorf("want it asked about anew, got %s of %s", r.State, r.ID)
	}
	b.state(t, byOther, ambit.ProposalApproved)
	b.state(t, byHand, ambit.ProposalApproved)
	b.byGrant(t, pending, g.ID, false)

	kept, err := b.Approvals.Grant(t.Context(), b.tenant, g.ID)
	want := b.decision("ann", approval.Revoke)
	want.At = time.Now()
	if diff := cmp.Diff(want, kept.Revoked, near()); err != nil || diff != "" {
		t.Errorf("the revocation of the grant, error %v (-want +got):\n%s", err, diff)
	}
	if _, lost, changed, err := b.Approvals.RevokeGrant(t.Context(), b.tenant, g.ID, want, nil); changed || len(lost) != 0 || err != nil {
		t.Errorf("RevokeGrant again: want no change, got %t, %d, %v", changed, len(lost), err)
	}
	spent := b.give(t, b.grant(withBudget(1)))
	id := b.propose(t, b.proposal("the last one")).ID
	b.byGrant(t, id, spent.ID, true)
	b.revokeGrant(t, spent.ID)
	b.state(t, id, ambit.ProposalRevoked)
}

// grants returns all grants that a filter lets through, by the pages that it asks
// for.
func (b bench) grants(t *testing.T, f approval.GrantFilter) (list []approval.Grant) {
	t.Helper()
	for {
		page, next, err := b.Approvals.Grants(t.Context(), f)
		if err != nil {
			t.Fatalf("Grants: %v", err)
		}
		if list, f.After = append(list, page...), next; next == "" {
			return list
		}
	}
}

func listedGrants(t *testing.T, b bench) {
	ids := map[string]string{}
	for _, name := range []string{"first", "revoked", "short", "other capability", "other principal", "last"} {
		g := b.grant(func(g *approval.Grant) {
			switch name {
			case "other capability":
				g.Capability = "notes.delete"
			case "other principal":
				g.Principal = "4:acme/6:apikey/other"
			case "short":
				g.Until = time.Now().Add(time.Minute)
			}
		})
		ids[b.give(t, g).ID] = name
		if name == "revoked" {
			b.revokeGrant(t, g.ID)
		}
	}
	other := b
	other.tenant = "other"
	other.give(t, other.grant())
	b.Advance(time.Hour)
	of := b.proposal("").Binding
	for _, test := range []struct {
		name   string
		filter approval.GrantFilter
		want   []string
	}{
		{"all", approval.GrantFilter{}, []string{"last", "other principal", "other capability", "short", "revoked", "first"}},
		{"all, page by page", approval.GrantFilter{Limit: 2}, []string{"last", "other principal", "other capability", "short", "revoked", "first"}},
		{"live", approval.GrantFilter{Live: true}, []string{"last", "other principal", "other capability", "first"}},
		{"live, page by page", approval.GrantFilter{Live: true, Limit: 1}, []string{"last", "other principal", "other capability", "first"}},
		{"for a call", approval.GrantFilter{Live: true, Principal: of.Principal, Capability: of.Capability}, []string{"last", "first"}},
	} {
		test.filter.Tenant = b.tenant
		var got []string
		for _, g := range b.grants(t, test.filter) {
			got = append(got, ids[g.ID])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, _, err := b.Approvals.Grants(t.Context(), approval.GrantFilter{After: "x"}); err == nil {
		t.Error("a cursor of another list: want an error")
	}
}
