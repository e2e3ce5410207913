package storetest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// decisionTests are about what persons say.
func decisionTests() []test {
	return []test{
		{"an approval is kept with who, why and when", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			d := b.decision("ann", approval.Approve)
			d.Behind = []string{"4:acme/5:login/bob"}
			r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, d, nil)
			if err != nil || !changed {
				t.Fatalf("Decide: changed %t, error %v", changed, err)
			}
			d.At = time.Now()
			if diff := cmp.Diff([]approval.Decision{d}, r.Decisions, near()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if want := r.Decisions[0].At.Add(executeWithin); r.State != ambit.ProposalApproved || !r.ExecuteBy.Equal(want) {
				t.Errorf("want it approved until %s, got %s until %s", want, r.State, r.ExecuteBy)
			}
			if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
				t.Errorf("Get returns another record than Decide (-Decide +Get):\n%s", diff)
			}
		}},
		{"which verdict a state takes", verdicts},
		{"a quorum counts persons who share nobody", quorum},
		{"an approval of another preview does not count", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			d := b.decision("ann", approval.Approve)
			d.Preview = digest("another")
			if r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, d, nil); err != nil || changed || len(r.Decisions) > 0 {
				t.Errorf("Decide: want no change, got %t, error %v", changed, err)
			}
			b.state(t, id, ambit.ProposalPending)
		}},
		{"the last moment to decide leaves the whole time to execute", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			b.Advance(decideWithin - time.Minute)
			b.decide(t, id, "ann", approval.Approve)
			b.Advance(executeWithin - time.Minute)
			b.state(t, id, ambit.ProposalApproved)
			b.take(t, claim(b.proposal("x"), id))
		}},
		{"a record that is reconsidered waits again, without those named", reconsidered},
		{"a record with a newer preview takes what is said of that, by whoever spoke of another", decidedAnew},
		{"a record that is not there is ErrNotFound", func(t *testing.T, b bench) {
			id := rand.Text()
			if _, err := b.Approvals.Get(t.Context(), b.tenant, id); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Get: want ErrNotFound, got %v", err)
			}
			if _, _, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision("ann", approval.Deny), nil); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Decide: want ErrNotFound, got %v", err)
			}
			if _, _, err := b.Approvals.Reconsider(t.Context(), b.tenant, id, approval.Change{}, nil); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("Reconsider: want ErrNotFound, got %v", err)
			}
		}},
	}
}

// bring makes a proposal and brings it to a state.
func (b bench) bring(t *testing.T, p ambit.Proposal, state ambit.ProposalState) (id string, c ambit.Claim) {
	t.Helper()
	id = b.propose(t, p).ID
	c = claim(p, id)
	switch state {
	case ambit.ProposalPending:
	case ambit.ProposalDenied:
		b.decide(t, id, "ann", approval.Deny)
	case ambit.ProposalExpired:
		b.Advance(p.DecideWithin)
	default:
		b.decide(t, id, "ann", approval.Approve)
	}
	switch state {
	case ambit.ProposalRevoked:
		b.decide(t, id, "ann", approval.Revoke)
	case ambit.ProposalExecuting, ambit.ProposalUnknown, ambit.ProposalSucceeded, ambit.ProposalFailed:
		b.take(t, c)
	}
	switch state {
	case ambit.ProposalUnknown:
		b.Advance(lease)
	case ambit.ProposalSucceeded:
		b.finish(t, c, "done")
	case ambit.ProposalFailed:
		if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Failed: true, Outcome: []byte("failed")}); err != nil {
			t.Fatal(err)
		}
	}
	b.state(t, id, state)
	return id, c
}

func verdicts(t *testing.T, b bench) {
	takes := map[ambit.ProposalState]map[approval.Verdict]ambit.ProposalState{
		ambit.ProposalPending: {
			approval.Approve: ambit.ProposalApproved, approval.Deny: ambit.ProposalDenied, approval.Revoke: ambit.ProposalRevoked,
		},
		ambit.ProposalApproved: {approval.Revoke: ambit.ProposalRevoked},
		ambit.ProposalUnknown: {
			approval.SettleSucceeded: ambit.ProposalSucceeded, approval.SettleFailed: ambit.ProposalFailed,
		},
	}
	for state := ambit.ProposalPending; state <= ambit.ProposalUnknown; state++ {
		for verdict := approval.Approve; verdict <= approval.SettleFailed; verdict++ {
			name := fmt.Sprintf("%s, %s", state, verdict)
			id, _ := b.bring(t, b.proposal(name), state)
			before := b.get(t, id)
			r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision("bob", verdict), nil)
			want, ok := takes[state][verdict]
			if !ok {
				want = state
			}
			if err != nil || changed != ok || r.State != want || len(r.Decisions)-len(before.Decisions) != count(ok) {
				t.Errorf("%s: want it taken: %t, and state %s; got %t, %s, error %v", name, ok, want, changed, r.State, err)
			}
			if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
				t.Errorf("%s: Get returns another record than Decide (-Decide +Get):\n%s", name, diff)
			}
			if settled := verdict >= approval.SettleSucceeded && ok; settled && r.Finished.IsZero() {
				t.Errorf("%s: want the time when it was settled, got none", name)
			}
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func quorum(t *testing.T, b bench) {
	id := b.propose(t, b.proposal("x", withQuorum(3))).ID
	for _, step := range []struct {
		who    string
		behind []string
		counts bool
		want   ambit.ProposalState
	}{
		{"ann", []string{"owner of ann"}, true, ambit.ProposalPending},
		{"ann", nil, false, ambit.ProposalPending},
		{"bob", []string{b.decision("ann", 0).Decider}, false, ambit.ProposalPending},
		{"bob", []string{"owner of ann"}, false, ambit.ProposalPending},
		{"bob", []string{"owner of bob"}, true, ambit.ProposalPending},
		{"eve", []string{"somebody", "owner of bob"}, false, ambit.ProposalPending},
		{"eve", []string{"somebody"}, true, ambit.ProposalApproved},
		{"joe", nil, false, ambit.ProposalApproved},
	} {
		d := b.decision(step.who, approval.Approve)
		d.Behind = step.behind
		r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, d, nil)
		if err != nil || changed != step.counts || r.State != step.want {
			t.Errorf("%s with %q behind: want it counted: %t, state %s; got %t, %s, error %v", step.who, step.behind, step.counts, step.want, changed, r.State, err)
		}
	}
	id = b.propose(t, b.proposal("y", withQuorum(2))).ID
	b.decide(t, id, "ann", approval.Approve)
	if r := b.decide(t, id, "ann", approval.Deny); r.State != ambit.ProposalDenied {
		t.Errorf("a no by somebody who had approved: want denied, got %s", r.State)
	}
}

func reconsidered(t *testing.T, b bench) {
	ann, bob := b.decision("ann", 0).Decider, b.decision("bob", 0).Decider
	same := approval.Change{Preview: digest("preview"), Version: "v1"}
	without := func(c approval.Change, who ...string) approval.Change { c.Without = who; return c }
	for _, test := range []struct {
		name     string
		approved bool
		change   approval.Change
		changed  bool
		state    ambit.ProposalState
		left     int
	}{
		{"approved, without one", true, without(same, ann), true, ambit.ProposalPending, 1},
		{"approved, without both", true, without(same, ann, bob), true, ambit.ProposalPending, 0},
		{"approved, without others", true, without(same, "joe"), false, ambit.ProposalApproved, 2},
		{"approved, another preview", true, approval.Change{Preview: digest("new"), Version: "v2"}, true, ambit.ProposalPending, 0},
		{"pending, without one", false, without(same, ann), true, ambit.ProposalPending, 0},
		{"pending, as it is", false, same, false, ambit.ProposalPending, 1},
		{"pending, another preview", false, approval.Change{Preview: digest("new"), Version: "v2", Input: []byte("new"), Summary: []byte("short")}, true, ambit.ProposalPending, 0},
	} {
		id := b.propose(t, b.proposal(test.name, withQuorum(2))).ID
		b.decide(t, id, "ann", approval.Approve)
		if test.approved {
			b.decide(t, id, "bob", approval.Approve)
		}
		before := b.get(t, id)
		b.Advance(time.Minute)
		r, changed, err := b.Approvals.Reconsider(t.Context(), b.tenant, id, test.change, nil)
		if err != nil || changed != test.changed || r.State != test.state || len(r.Decisions) != test.left ||
			r.Proposal.Preview != test.change.Preview || r.Proposal.Version != test.change.Version {
			t.Errorf("%s: got changed %t, %s, %d decisions, version %s, error %v", test.name, changed, r.State, len(r.Decisions), r.Proposal.Version, err)
		}
		if test.change.Input == nil {
			test.change.Input, test.change.Summary = before.Proposal.Input, before.Proposal.Summary
		}
		if !bytes.Equal(test.change.Input, r.Proposal.Input) || !bytes.Equal(test.change.Summary, r.Proposal.Summary) {
			t.Errorf("%s: want %q and %q, got %q and %q", test.name, test.change.Input, test.change.Summary, r.Proposal.Input, r.Proposal.Summary)
		}
		if anew := r.DecideBy.After(before.DecideBy); anew != test.changed || r.ExecuteBy.IsZero() != (r.State == ambit.ProposalPending) {
			t.Errorf("%s: its time begins anew: %t, to be executed by %s", test.name, anew, r.ExecuteBy)
		}
		if diff := cmp.Diff(r, b.get(t, id)); diff != "" {
			t.Errorf("%s: Get returns another record than Reconsider (-Reconsider +Get):\n%s", test.name, diff)
		}
	}
	for _, state := range []ambit.ProposalState{
		ambit.ProposalDenied, ambit.ProposalRevoked, ambit.ProposalExpired, ambit.ProposalExecuting,
		ambit.ProposalSucceeded, ambit.ProposalFailed, ambit.ProposalUnknown,
	} {
		id, _ := b.bring(t, b.proposal(state.String()), state)
		if r, changed, err := b.Approvals.Reconsider(t.Context(), b.tenant, id, approval.Change{Preview: digest("new")}, nil); err != nil || changed || r.State != state {
			t.Errorf("%s: want no change, got %t, %s, error %v", state, changed, r.State, err)
		}
	}
}

// decidedAnew is what a person does who is shown a newer preview than the record has:
// it is given that one, and takes what is said of it, also by those who had approved
// another.
func decidedAnew(t *testing.T, b bench) {
	id := b.propose(t, b.proposal("x", withQuorum(2))).ID
	b.decide(t, id, "ann", approval.Approve)
	newer := approval.Change{Preview: digest("new"), Version: "v2", Input: []byte("new"), Summary: []byte("short")}
	if r, changed, err := b.Approvals.Reconsider(t.Context(), b.tenant, id, newer, nil); err != nil || !changed || len(r.Decisions) != 0 {
		t.Fatalf("want the earlier word taken back, got changed %t, %d decisions, error %v", changed, len(r.Decisions), err)
	}
	for _, step := range []struct {
		who     string
		preview ambit.Digest
		counts  bool
		want    ambit.ProposalState
	}{
		{"ann", digest("preview"), false, ambit.ProposalPending},
		{"ann", newer.Preview, true, ambit.ProposalPending},
		{"ann", newer.Preview, false, ambit.ProposalPending},
		{"bob", digest("preview"), false, ambit.ProposalPending},
		{"bob", newer.Preview, true, ambit.ProposalApproved},
	} {
		d := b.decision(step.who, approval.Approve)
		d.Preview = step.preview
		r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, d, nil)
		if err != nil || changed != step.counts || r.State != step.want || r.Proposal.Version != newer.Version {
			t.Errorf("%s: want it counted: %t, state %s; got %t, %s of %s, error %v", step.who, step.counts, step.want, changed, r.State, r.Proposal.Version, err)
		}
	}
}
