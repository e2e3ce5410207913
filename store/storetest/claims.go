package storetest

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// claimTests are about calls that a proposal allows.
func claimTests() []test {
	return []test{
		{"an approved proposal is executed once, and its outcome is with it", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			c := claim(p, id)
			b.take(t, c)
			r := b.get(t, id)
			if r.State != ambit.ProposalExecuting || time.Since(r.Claimed).Abs() > time.Minute {
				t.Errorf("want it executing since now, got %s since %s", r.State, r.Claimed)
			}
			b.stands(t, claim(p, id), ambit.ProposalExecuting, "")
			b.finish(t, c, "done")
			r = b.get(t, id)
			if r.State != ambit.ProposalSucceeded || string(r.Outcome) != "done" || r.Finished.Before(r.Claimed) {
				t.Errorf("want it succeeded with its outcome, got %s with %q at %s", r.State, r.Outcome, r.Finished)
			}
			b.stands(t, claim(p, id), ambit.ProposalSucceeded, "done")
			if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("again")}); err != nil {
				t.Errorf("second Finish, as after a broken connection: %v", err)
			}
			b.stands(t, claim(p, id), ambit.ProposalSucceeded, "done")
		}},
		{"a call that failed leaves the proposal failed", func(t *testing.T, b bench) {
			id, _ := b.bring(t, b.proposal("x"), ambit.ProposalFailed)
			b.stands(t, claim(b.proposal("x"), id), ambit.ProposalFailed, "failed")
		}},
		{"which state a claim takes", func(t *testing.T, b bench) {
			for state := ambit.ProposalPending; state <= ambit.ProposalUnknown; state++ {
				p := b.proposal(state.String())
				id, _ := b.bring(t, p, state)
				if state == ambit.ProposalApproved {
					b.take(t, claim(p, id))
					continue
				}
				b.stands(t, claim(p, id), state, string(b.get(t, id).Outcome))
			}
		}},
		{"a confirmed call takes a pending proposal, of its own level only", func(t *testing.T, b bench) {
			for _, test := range []struct {
				asked, claimed ambit.Approval
				taken          bool
			}{
				{ambit.Confirm, ambit.Confirm, true},
				{ambit.Confirm, ambit.Human, false},
				{ambit.Human, ambit.Confirm, false},
				{ambit.Human, ambit.Human, false},
				{ambit.FourEyes, ambit.Confirm, false},
			} {
				name := test.asked.String() + ", claimed at " + test.claimed.String()
				p := b.proposal(name, atLevel(test.asked))
				c := claim(p, b.propose(t, p).ID)
				c.Approval.Level = test.claimed
				r, err := b.Approvals.Claim(t.Context(), c)
				if err != nil || (r.Approval.ID == "") != test.taken {
					t.Errorf("%s: want it taken: %t, got %+v, %v", name, test.taken, r.Approval, err)
				}
			}
		}},
		{"what was approved for less does not allow a call that takes more", func(t *testing.T, b bench) {
			p := b.proposal("x", atLevel(ambit.Human))
			id := b.approved(t, p).ID
			c := claim(p, id)
			c.Approval.Level = ambit.FourEyes
			b.stands(t, c, ambit.ProposalApproved, "")
			c.Approval.Level = ambit.Confirm
			b.take(t, c)
		}},
		{"another preview than the one decided on ends the proposal", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			c := claim(p, id)
			c.Approval.Preview = digest("another")
			b.stands(t, c, ambit.ProposalExpired, "")
			b.state(t, id, ambit.ProposalExpired)
			b.stands(t, claim(p, id), ambit.ProposalExpired, "")
			if r := b.propose(t, p); r.ID == id {
				t.Error("the record that has expired answers")
			}
		}},
		{"a proposal is for its own call alone", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			for name, edit := range map[string]func(*ambit.Binding){
				"tenant":     func(c *ambit.Binding) { c.Tenant = "other" },
				"principal":  func(c *ambit.Binding) { c.Principal = "0:/5:stdio/editor" },
				"client":     func(c *ambit.Binding) { c.Client = "another" },
				"agent":      func(c *ambit.Binding) { c.Agent = "" },
				"capability": func(c *ambit.Binding) { c.Capability = "notes.purge2" },
				"contract":   func(c *ambit.Binding) { c.Contract = digest("another contract") },
				"input":      func(c *ambit.Binding) { c.Input = digest("y") },
			} {
				c := claim(p, id)
				edit(&c.Binding)
				r, err := b.Approvals.Claim(t.Context(), c)
				want := ambit.Standing{ID: id, State: ambit.ProposalExpired}
				if diff := cmp.Diff(want, r.Approval); err != nil || diff != "" {
					t.Errorf("another %s: error %v (-want +got):\n%s", name, err, diff)
				}
			}
			missing := claim(p, rand.Text())
			b.stands(t, missing, ambit.ProposalExpired, "")
			b.take(t, claim(p, id))
		}},
		{"key and proposal are claimed together or not at all", func(t *testing.T, b bench) {
			p := b.proposal("x")
			taken := b.keyed("k", "y")
			b.take(t, taken)
			id := b.approved(t, p).ID
			c := claim(p, id)
			c.Key = taken.Key
			r, err := b.Approvals.Claim(t.Context(), c)
			if err != nil || r.State != ambit.RecordRunning || r.Operation != taken.Binding.Operation() {
				t.Errorf("Claim with a key that is taken: got %+v, %v", r, err)
			}
			b.state(t, id, ambit.ProposalApproved)

			pending := b.proposal("z")
			c = claim(pending, b.propose(t, pending).ID)
			c.Key = digest("free")
			if r, err := b.Approvals.Claim(t.Context(), c); err != nil || r.State != ambit.RecordFree || r.Approval.State != ambit.ProposalPending {
				t.Errorf("Claim with a proposal that is pending: got %+v, %v", r, err)
			}
			b.found(t, ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}, ambit.RecordFree, "")
		}},
		{"a key answers with the outcome that the proposal holds", func(t *testing.T, b bench) {
			p := b.proposal("x")
			c := claim(p, b.approved(t, p).ID)
			c.Key = digest("key")
			alone := ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}
			b.take(t, c)
			if got := b.get(t, c.Approval.ID).Key; got != c.Key {
				t.Errorf("key of the record: want that of the claim, got %x", got)
			}
			b.found(t, alone, ambit.RecordRunning, "")
			b.Advance(lease)
			b.found(t, alone, ambit.RecordUnknown, "")
			b.finish(t, c, "done")
			b.found(t, alone, ambit.RecordFinished, "done")
		}},
		{"a key answers for a proposal that a person has settled", func(t *testing.T, b bench) {
			p := b.proposal("x")
			c := claim(p, b.approved(t, p).ID)
			c.Key = digest("key")
			b.take(t, c)
			b.Advance(lease)
			b.decide(t, c.Approval.ID, "ann", approval.SettleFailed)
			b.found(t, ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}, ambit.RecordFinished, "")
			found, err := b.Approvals.Find(t.Context(), ambit.Claim{Key: c.Key, Binding: c.Binding})
			if err != nil || found.By.ID != c.Approval.ID || found.By.State != ambit.ProposalFailed {
				t.Errorf("want the proposal %s failed, got %s %s, %v", c.Approval.ID, found.By.ID, found.By.State, err)
			}
			if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("late")}); err == nil {
				t.Error("Finish of what was settled: want an error, got none")
			}
			b.state(t, c.Approval.ID, ambit.ProposalFailed)
		}},
		{"a lease that lapses leaves the proposal unknown until a person settles it", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			c := claim(p, id)
			b.take(t, c)
			b.Advance(lease)
			b.stands(t, claim(p, id), ambit.ProposalUnknown, "")
			b.Advance(365 * 24 * time.Hour)
			b.stands(t, claim(p, id), ambit.ProposalUnknown, "")
			b.finish(t, c, "late")
			b.stands(t, claim(p, id), ambit.ProposalSucceeded, "late")
		}},
		{"what is released can be claimed again in its time", func(t *testing.T, b bench) {
			for _, level := range []ambit.Approval{ambit.Confirm, ambit.Human} {
				p := b.proposal(level.String(), atLevel(level))
				id, want := b.propose(t, p).ID, ambit.ProposalPending
				if level != ambit.Confirm {
					b.decide(t, id, "ann", approval.Approve)
					want = ambit.ProposalApproved
				}
				before := b.get(t, id)
				c := claim(p, id)
				c.Key = digest(level.String())
				b.take(t, c)
				other := c
				other.Attempt = attempt()
				for _, each := range []ambit.Claim{other, c} {
					if err := b.Approvals.Release(t.Context(), each); err != nil {
						t.Fatalf("Release: %v", err)
					}
					if each.Attempt == other.Attempt {
						b.state(t, id, ambit.ProposalExecuting)
					}
				}
				b.state(t, id, want)
				if diff := cmp.Diff(before, b.get(t, id)); diff != "" {
					t.Errorf("the record after its release (-before +after):\n%s", diff)
				}
				c.Attempt = attempt()
				b.take(t, c)
				b.finish(t, c, "done")
			}
		}},
		{"an executed proposal and its key have one outcome, however large", func(t *testing.T, b bench) {
			p := b.proposal("x")
			c := claim(p, b.approved(t, p).ID)
			c.Key = digest("key")
			b.take(t, c)
			b.finish(t, c, string(make([]byte, 64<<20)))
			b.stands(t, claim(p, c.Approval.ID), ambit.ProposalSucceeded, receipt)
			b.found(t, ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}, ambit.RecordFinished, receipt)
		}},
		{"keys of such calls that have expired make room for others", func(t *testing.T, b bench) {
			b.turnsOver(t, 25*time.Hour, func(n int) {
				p := b.proposal(fmt.Sprint("x ", n))
				c := claim(p, b.approved(t, p).ID)
				c.Key = digest(fmt.Sprint("key ", n))
				b.take(t, c)
				b.finish(t, c, "done")
			})
		}},
		{"what has long been closed is forgotten, and nothing else", forgotten},
	}
}

// stands checks how a proposal stands in the way of a claim, as Find and as
// Claim see it.
func (b bench) stands(t *testing.T, c ambit.Claim, state ambit.ProposalState, outcome string) {
	t.Helper()
	found, err := b.Approvals.Find(t.Context(), c)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	if s := found.Approval; found.State != ambit.RecordFree || s.ID != c.Approval.ID || s.State != state || string(s.Outcome) != outcome {
		t.Errorf("Find: want the proposal %s in the way with outcome %q, got %s with %q", state, outcome, s.State, s.Outcome)
	}
	claimed, err := b.Approvals.Claim(t.Context(), c)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	if diff := cmp.Diff(found, claimed); diff != "" {
		t.Errorf("Claim finds something else in the way than Find (-Find +Claim):\n%s", diff)
	}
}

func forgotten(t *testing.T, b bench) {
	const keep = 30 * 24 * time.Hour
	ids := make(map[ambit.ProposalState]string)
	for state := ambit.ProposalPending; state <= ambit.ProposalUnknown; state++ {
		if state == ambit.ProposalExecuting {
			continue // it will be unknown
		}
		p := b.proposal(state.String(), func(p *ambit.Proposal) { p.DecideWithin, p.ExecuteWithin = 100*keep, 100*keep })
		if state == ambit.ProposalExpired {
			p.DecideWithin = time.Minute
		}
		ids[state], _ = b.bring(t, p, state)
	}
	short := make(map[ambit.ProposalState]string)
	for _, state := range []ambit.ProposalState{ambit.ProposalDenied, ambit.ProposalSucceeded, ambit.ProposalFailed, ambit.ProposalRevoked, ambit.ProposalExpired} {
		short[state], _ = b.bring(t, b.proposal("short "+state.String(), func(p *ambit.Proposal) { p.DecideWithin = time.Hour }), state)
	}
	consent := rand.Text()
	if err := b.Approvals.Consent(t.Context(), consent, b.proposal("consent"), b.decision("robot", approval.Approve), nil); err != nil {
		t.Fatal(err)
	}
	forget := func(want int) {
		t.Helper()
		if n, err := b.Approvals.Forget(t.Context(), keep); err != nil || n != want {
			t.Errorf("Forget: want %d records forgotten, got %d, error %v", want, n, err)
		}
	}
	forget(0)
	b.Advance(keep + 2*time.Hour)
	forget(len(short) + 2) // and the expired one, and the consent
	for state, id := range ids {
		if state != ambit.ProposalExpired {
			b.state(t, id, state)
		}
	}
	for state, id := range short {
		if _, err := b.Approvals.Get(t.Context(), b.tenant, id); err == nil {
			t.Errorf("a record that is %s was not forgotten", state)
		}
	}

	p := b.proposal("keyed", func(p *ambit.Proposal) { p.ExecuteWithin = time.Minute })
	c := claim(p, b.approved(t, p).ID)
	c.Key = digest("key")
	b.take(t, c)
	b.finish(t, c, "done")
	b.Advance(time.Hour)
	if _, err := b.Approvals.Forget(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	b.found(t, ambit.Claim{Key: c.Key, Binding: c.Binding, Lease: lease}, ambit.RecordFinished, "done")
	b.Advance(24 * time.Hour)
	if n, err := b.Approvals.Forget(t.Context(), 0); err != nil || n != 1 {
		t.Errorf("Forget after the key has expired: want 1, got %d, error %v", n, err)
	}
}
