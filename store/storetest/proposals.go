package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// proposalTests are about questions: which record answers for an operation.
func proposalTests() []test {
	return []test{
		{"a question is kept as it was asked", func(t *testing.T, b bench) {
			id, p := rand.Text(), b.proposal("x")
			p.Requester.Claims, p.Requester.Value = map[string]any{"email": "ann@example.com"}, "the application's own"
			r, created, err := b.Approvals.Propose(t.Context(), id, p, approval.Caps{}, nil)
			if err != nil || !created {
				t.Fatalf("Propose: created %t, error %v", created, err)
			}
			stripped := *p.Requester
			stripped.Claims, stripped.Value = nil, nil
			p.Requester = &stripped
			now := time.Now()
			want := approval.Record{ID: id, Operation: p.Binding.Operation(), Proposal: p, Created: now, DecideBy: now.Add(decideWithin)}
			if diff := cmp.Diff(want, r, near()); diff != "" {
				t.Errorf("Propose (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
				t.Errorf("Get returns another record than Propose (-Propose +Get):\n%s", diff)
			}
		}},
		{"lists and bytes that are nil, empty and zero come back", func(t *testing.T, b bench) {
			p := b.proposal("x", func(p *ambit.Proposal) {
				p.Binding.Tenant, p.Binding.Client, p.Binding.Agent = "", "", ""
				p.Requester = &ambit.Principal{Authority: "login", Subject: "ann", Unscoped: true}
				p.Agent, p.Key, p.Preview, p.Version, p.Reason, p.Request = ambit.AgentIdentity{}, ambit.Digest{}, ambit.Digest{}, "", "", ""
				p.Reason = "quotes \" ' and \u202e and \U0001F600 and \\"
			})
			r := b.propose(t, p)
			if diff := cmp.Diff(p, r.Proposal); diff != "" {
				t.Errorf("proposal (-want +got):\n%s", diff)
			}
			got, err := b.Approvals.Get(t.Context(), "", r.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, got.Proposal); diff != "" {
				t.Errorf("stored proposal (-want +got):\n%s", diff)
			}
		}},
		{"one record answers for an operation, under whatever key", func(t *testing.T, b bench) {
			first := b.propose(t, b.proposal("x"))
			for _, key := range []string{"a", "b", "c"} {
				id := rand.Text()
				r, created, err := b.Approvals.Propose(t.Context(), id, b.proposal("x", func(p *ambit.Proposal) { p.Key = digest(key) }), approval.Caps{}, nil)
				if err != nil || created || r.ID != first.ID {
					t.Errorf("Propose again: want the first record, got created %t, error %v", created, err)
				}
				if _, err := b.Approvals.Get(t.Context(), b.tenant, id); !errors.Is(err, approval.ErrNotFound) {
					t.Errorf("Get of an id that was not used: want ErrNotFound, got %v", err)
				}
			}
			if other := b.propose(t, b.proposal("y")); other.ID == first.ID {
				t.Error("another operation has the same record")
			}
		}},
		{"asked again while nobody has decided, the preview is that of now", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			renewed := func(p *ambit.Proposal) {
				p.Preview, p.Version, p.Input, p.Summary = digest("new"), "v2", []byte("sealed anew"), []byte("summed up anew")
			}
			b.Advance(time.Hour)
			r := b.propose(t, b.proposal("x", renewed))
			if diff := cmp.Diff(b.proposal("x", renewed), r.Proposal); diff != "" {
				t.Errorf("proposal (-want +got):\n%s", diff)
			}
			if got := b.get(t, id); got.Proposal.Version != "v2" || !got.DecideBy.Equal(got.Created.Add(decideWithin)) {
				t.Errorf("want version v2 and the time of the first question, got %s and %s more", got.Proposal.Version, got.DecideBy.Sub(got.Created))
			}
		}},
		{"asked again about the same, nothing is written", unwritten},
		{"asked again after a decision, what was decided stays", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x", withQuorum(2))).ID
			b.decide(t, id, "ann", approval.Approve)
			r := b.propose(t, b.proposal("x", withQuorum(2), func(p *ambit.Proposal) { p.Preview, p.Version = digest("new"), "v2" }))
			if r.ID != id || r.Proposal.Preview != digest("preview") || r.Proposal.Version != "v1" || len(r.Decisions) != 1 {
				t.Errorf("want the record as decided, got version %s, %d decisions", r.Proposal.Version, len(r.Decisions))
			}
		}},
		{"at the level confirm each asking begins the time anew", func(t *testing.T, b bench) {
			p := b.proposal("x", atLevel(ambit.Confirm))
			p.DecideWithin = 2 * time.Minute
			id := b.propose(t, p).ID
			for range 3 {
				b.Advance(time.Minute)
				if r := b.propose(t, p); r.ID != id || r.State != ambit.ProposalPending {
					t.Errorf("want the first record pending, got %s", r.State)
				}
			}
			b.Advance(2 * time.Minute)
			b.state(t, id, ambit.ProposalExpired)
			if r := b.propose(t, p); r.ID == id {
				t.Error("a record that has expired answers")
			}
		}},
		{"a question for more than before raises the record", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x", atLevel(ambit.Confirm))).ID
			more := b.proposal("x", atLevel(ambit.FourEyes), withQuorum(2), func(p *ambit.Proposal) {
				p.Via, p.Agent.Level, p.Run, p.Call, p.Request, p.Reason = ambit.Assistant, ambit.AgentRequest, 21, 22, "request-23", "they are older"
				p.Preview, p.Version, p.Input, p.Summary = digest("new preview"), "v2", []byte("new input"), []byte("new summary")
			})
			r, created, err := b.Approvals.Propose(t.Context(), rand.Text(), more, approval.Caps{}, nil)
			if err != nil || !created {
				t.Errorf("want the question told of as a new one, got %t, %v", created, err)
			}
			if _, created, err = b.Approvals.Propose(t.Context(), rand.Text(), more, approval.Caps{}, nil); err != nil || created {
				t.Errorf("asked again: want no new question, got %t, %v", created, err)
			}
			if diff := cmp.Diff(more, r.Proposal); r.ID != id || diff != "" {
				t.Errorf("want the record as the question for more was asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
				t.Errorf("the record is kept otherwise (-returned +kept):\n%s", diff)
			}
			if r = b.propose(t, b.proposal("x", atLevel(ambit.Human))); r.Proposal.Level != ambit.FourEyes {
				t.Errorf("a question for less lowered the record to %s", r.Proposal.Level)
			}
		}},
		{"what is asked for more is approved by those alone who have seen it as it is then", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x", withQuorum(2))).ID
			b.decide(t, id, "ann", approval.Approve)
			anew := func(p *ambit.Proposal) { p.Preview, p.Version = digest("new preview"), "v2" }
			if r := b.propose(t, b.proposal("x", atLevel(ambit.FourEyes), withQuorum(2), anew)); r.ID != id || len(r.Decisions) != 0 {
				t.Errorf("want nobody's word left, got %d", len(r.Decisions))
			}
			bob := b.decision("bob", approval.Approve)
			bob.Preview = digest("new preview")
			if r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, bob, nil); err != nil || !changed || r.State != ambit.ProposalPending {
				t.Errorf("Decide by the first of two: want it pending, got changed %t, error %v, state %s", changed, err, r.State)
			}
		}},
		{"one approved for less gives way to a question for more", func(t *testing.T, b bench) {
			id := b.approved(t, b.proposal("x")).ID
			r := b.propose(t, b.proposal("x", atLevel(ambit.FourEyes)))
			if r.ID == id || r.State != ambit.ProposalPending {
				t.Errorf("want a new record that is pending, got %s", r.State)
			}
			b.state(t, id, ambit.ProposalExpired)
		}},
		{"a record ceases to answer when its time is over", answering},
		{"one that was executed gives way to a deliberate repetition", func(t *testing.T, b bench) {
			for _, test := range []struct {
				name    string
				level   ambit.Approval
				claimed string
				asked   string
				gives   bool
			}{
				{"human, same key", ambit.Human, "k", "k", false},
				{"human, no key", ambit.Human, "k", "", false},
				{"human, another key", ambit.Human, "k", "other", true},
				{"human, a key after none", ambit.Human, "", "other", true},
				{"confirm, same key", ambit.Confirm, "k", "k", true},
				{"confirm, no key", ambit.Confirm, "", "", true},
			} {
				p := b.proposal(test.name, atLevel(test.level))
				id := b.propose(t, p).ID
				if test.level != ambit.Confirm {
					b.decide(t, id, "ann", approval.Approve)
				}
				c := claim(p, id)
				if c.Key = (ambit.Digest{}); test.claimed != "" {
					c.Key = digest(test.name + test.claimed)
				}
				b.take(t, c)
				b.finish(t, c, "done")
				if p.Key = (ambit.Digest{}); test.asked != "" {
					p.Key = digest(test.name + test.asked)
				}
				r := b.propose(t, p)
				if (r.ID != id) != test.gives {
					t.Errorf("%s: want it to give way: %t, got a new record: %t", test.name, test.gives, r.ID != id)
				}
				if !test.gives && string(r.Outcome) != "done" {
					t.Errorf("%s: want the outcome with the record, got %q", test.name, r.Outcome)
				}
			}
		}},
		{"caps hold, by requester and by tenant", caps},
		{"a requester can be called anything", func(t *testing.T, b bench) {
			one := approval.Caps{Requester: 1}
			for _, who := range subjects() {
				p, id := b.proposal("x"), rand.Text()
				p.Binding, p.Requester.Subject = b.binding(who, "x"), who
				if r, created, err := b.Approvals.Propose(t.Context(), id, p, one, nil); err != nil || !created || r.ID != id {
					t.Errorf("%.20q: want the question taken, got created %t, error %v", who, created, err)
					continue
				}
				if got := b.list(t, approval.Filter{Tenant: b.tenant, Requester: p.Binding.Principal}); !slices.Equal(got, []string{id}) {
					t.Errorf("%.20q: want the one question listed, got %d", who, len(got))
				}
				b.decide(t, id, "ann", approval.Approve)
				b.take(t, claim(p, id))
			}
		}},
		{"tenants see nothing of each other", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			if _, err := b.Approvals.Get(t.Context(), "other", id); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Get: want ErrNotFound, got %v", err)
			}
			if _, _, err := b.Approvals.Decide(t.Context(), "other", id, b.decision("ann", approval.Approve), nil); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Decide: want ErrNotFound, got %v", err)
			}
			if _, _, err := b.Approvals.Reconsider(t.Context(), "other", id, approval.Change{Preview: digest("new")}, nil); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Reconsider: want ErrNotFound, got %v", err)
			}
			if page, _, err := b.Approvals.List(t.Context(), approval.Filter{Tenant: "other"}); err != nil || len(page) > 0 {
				t.Errorf("List: want nothing, got %d records, error %v", len(page), err)
			}
			other := bench{b.Stores, "other"}
			if other.propose(t, other.proposal("x")).ID == id {
				t.Error("two tenants share a record")
			}
			b.state(t, id, ambit.ProposalPending)
		}},
		{"a consent is on record and answers for nothing", func(t *testing.T, b bench) {
			for verdict, want := range map[approval.Verdict]ambit.ProposalState{approval.Approve: ambit.ProposalApproved, approval.Deny: ambit.ProposalDenied} {
				id, p := rand.Text(), b.proposal("x", atLevel(ambit.Confirm))
				if err := b.Approvals.Consent(t.Context(), id, p, b.decision("robot", verdict), nil); err != nil {
					t.Fatalf("Consent: %v", err)
				}
				r := b.get(t, id)
				if r.Kind != ambit.KindConsent || r.State != want || len(r.Decisions) != 1 || r.Decisions[0].Verdict != verdict {
					t.Errorf("want a consent that is %s, got %s that is %s", want, r.Kind, r.State)
				}
				if asked := b.propose(t, p); asked.ID == id {
					t.Error("the consent answers for its operation")
				}
				if r, err := b.Approvals.Claim(t.Context(), claim(p, id)); err != nil || r.Approval.ID != id {
					t.Errorf("Claim of a consent: want it in the way, got %+v, %v", r, err)
				}
				if _, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision("ann", approval.Revoke), nil); err != nil || changed {
					t.Errorf("Decide on a consent: want no change, got %t, %v", changed, err)
				}
				b.Advance(100 * 24 * time.Hour)
				b.state(t, id, want)
			}
		}},
	}
}

// unwritten checks that a question which says nothing new costs no write.
func unwritten(t *testing.T, b bench) {
	anew := func(p *ambit.Proposal) { // what differs although it is the same
		p.Input, p.Summary, p.Key = []byte("sealed anew"), []byte("summed up anew"), digest("another key")
		p.Run, p.Call, p.Request, p.Reason = 1, 2, "request-10", "they are still old"
	}
	for _, test := range []struct {
		name         string
		asked, again ambit.Approval
		edit         func(*ambit.Proposal)
		written      bool
	}{
		{"the same", ambit.Human, ambit.Human, func(*ambit.Proposal) {}, false},
		{"the same for two", ambit.FourEyes, ambit.FourEyes, func(*ambit.Proposal) {}, false},
		{"for less", ambit.Human, ambit.Confirm, func(*ambit.Proposal) {}, false},
		{"for more", ambit.Human, ambit.FourEyes, func(*ambit.Proposal) {}, true},
		{"another preview", ambit.Human, ambit.Human, func(p *ambit.Proposal) { p.Preview = digest("new") }, true},
		{"another version", ambit.Human, ambit.Human, func(p *ambit.Proposal) { p.Version = "v2" }, true},
		{"to be confirmed", ambit.Confirm, ambit.Confirm, func(*ambit.Proposal) {}, true}, // its time begins anew
	} {
		id := b.propose(t, b.proposal(test.name, atLevel(test.asked))).ID
		before, version := b.get(t, id), b.version(t, id)
		b.Advance(time.Minute)
		r := b.propose(t, b.proposal(test.name, atLevel(test.again), anew, test.edit))
		after := b.get(t, id)
		if diff := cmp.Diff(after, r); diff != "" {
			t.Errorf("%s: Propose returns another record than Get (-Get +Propose):\n%s", test.name, diff)
		}
		if changed := !cmp.Equal(before, after); changed != test.written {
			t.Errorf("%s: want the record changed: %t, got %t", test.name, test.written, changed)
		}
		if written := b.version(t, id) != version; b.Version != nil && written != test.written {
			t.Errorf("%s: want the row written: %t, got %t", test.name, test.written, written)
		}
	}
}

// answering checks in which states, and for how long, a record answers for its
// operation.
func answering(t *testing.T, b bench) {
	const never = 1000 * 24 * time.Hour
	for _, test := range []struct {
		name  string
		bring func(t *testing.T, b bench, p ambit.Proposal) (id string)
		until time.Duration
		then  ambit.ProposalState
	}{
		{"pending", func(t *testing.T, b bench, p ambit.Proposal) string { return b.propose(t, p).ID }, decideWithin, ambit.ProposalExpired},
		{"approved", func(t *testing.T, b bench, p ambit.Proposal) string { return b.approved(t, p).ID }, executeWithin, ambit.ProposalExpired},
		{"denied", func(t *testing.T, b bench, p ambit.Proposal) string {
			return b.decide(t, b.propose(t, p).ID, "ann", approval.Deny).ID
		}, decideWithin, ambit.ProposalDenied},
		{"revoked", func(t *testing.T, b bench, p ambit.Proposal) string {
			return b.decide(t, b.approved(t, p).ID, "ann", approval.Revoke).ID
		}, decideWithin, ambit.ProposalRevoked},
		{"unknown", func(t *testing.T, b bench, p ambit.Proposal) string {
			id := b.approved(t, p).ID
			b.take(t, claim(p, id))
			return id
		}, never, ambit.ProposalUnknown},
		{"finished", func(t *testing.T, b bench, p ambit.Proposal) string {
			id := b.approved(t, p).ID
			c := claim(p, id)
			b.take(t, c)
			b.finish(t, c, "done")
			return id
		}, executeWithin, ambit.ProposalSucceeded},
	} {
		p := b.proposal(test.name)
		p.Key = ambit.Digest{}
		id := test.bring(t, b, p)
		b.Advance(test.until - 5*time.Minute)
		if r := b.propose(t, p); r.ID != id {
			t.Errorf("%s: another record answers before its time is over", test.name)
		}
		b.Advance(5 * time.Minute)
		b.state(t, id, test.then)
		if r := b.propose(t, p); (r.ID == id) != (test.until == never) {
			t.Errorf("%s: want the first record to answer: %t, got %t", test.name, test.until == never, r.ID == id)
		}
		b.state(t, id, test.then)
	}
}

// caps checks that those who have many proposals waiting get no more.
func caps(t *testing.T, b bench) {
	ask := func(who, input string, c approval.Caps) error {
		p := b.proposal(input)
		p.Binding = b.binding(who, input)
		_, _, err := b.Approvals.Propose(t.Context(), rand.Text(), p, c, nil)
		return err
	}
	refused := func(what string, err error) {
		t.Helper()
		e, ok := errors.AsType[*ambit.Error](err)
		if !ok || e.Code != ambit.CodeRateLimited || e.RetryAfter <= 0 || e.RetryAfter > decideWithin {
			t.Errorf("%s: want it to be rate limited with a time to wait, got %v", what, err)
		}
	}
	taken := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	few := approval.Caps{Requester: 2, Tenant: 3}
	taken("first", ask("robot", "1", few))
	taken("second", ask("robot", "2", few))
	refused("third of one requester", ask("robot", "3", few))
	taken("first, again", ask("robot", "1", few))
	taken("without caps", ask("robot", "4", approval.Caps{}))
	refused("fourth of the tenant", ask("clerk", "5", few))
	other := bench{b.Stores, "other"}
	p := other.proposal("1")
	_, _, err := other.Approvals.Propose(t.Context(), rand.Text(), p, few, nil)
	taken("first of another tenant", err)
	page, _, err := b.Approvals.List(t.Context(), approval.Filter{Tenant: b.tenant})
	if err != nil || len(page) != 3 {
		t.Fatalf("List: want 3 records, got %d, error %v", len(page), err)
	}
	b.decide(t, page[0].ID, "ann", approval.Deny)
	taken("after a decision", ask("clerk", "5", few))
	b.Advance(decideWithin)
	taken("after all have expired", ask("robot", "6", few))

	soon := b.proposal("soon")
	soon.Binding, soon.DecideWithin = b.binding("clerk", "soon"), time.Hour
	b.propose(t, soon)
	one := approval.Caps{Requester: 1, Tenant: 2}
	for _, test := range []struct {
		who  string
		caps approval.Caps
		want time.Duration
	}{{"robot", approval.Caps{Requester: 1}, decideWithin}, {"clerk", approval.Caps{Requester: 1}, time.Hour}, {"somebody else", one, time.Hour}} {
		e, ok := errors.AsType[*ambit.Error](ask(test.who, "another", test.caps))
		if !ok || (e.RetryAfter-test.want).Abs() > time.Minute {
			t.Errorf("%s: want to be told to wait about %s, until there is room, got %v", test.who, test.want, e)
		}
	}
}
