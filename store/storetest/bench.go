package storetest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// What the suite's proposals and claims say unless a test changes it.
const (
	decideWithin  = 24 * time.Hour
	executeWithin = 15 * time.Minute
	lease         = time.Minute
)

// bench is a store to work on, and what is made for it.
type bench struct {
	Stores
	tenant string
}

func digest(text string) ambit.Digest { return sha256.Sum256([]byte(text)) }

func attempt() (a ambit.Attempt) {
	_, _ = rand.Read(a[:]) // crypto/rand.Read never fails (Go 1.24)
	return a
}

// binding is a call by somebody with some input.
func (b bench) binding(who, input string) ambit.Binding {
	principal := &ambit.Principal{Tenant: b.tenant, Authority: "apikey", Subject: who}
	return ambit.Binding{
		Tenant: b.tenant, Principal: principal.Key(), Client: "editor", Agent: "https://agent.example/ key",
		Capability: "notes.purge", Contract: digest("contract"), Input: digest(input),
	}
}

// proposal is the question of robot about a call with some input.
func (b bench) proposal(input string, edits ...func(*ambit.Proposal)) ambit.Proposal {
	p := ambit.Proposal{
		Binding: b.binding("robot", input), Level: ambit.Human, Quorum: 1,
		Requester: &ambit.Principal{
			Tenant: b.tenant, Authority: "apikey", Subject: "robot", Kind: ambit.KindAgent, Client: "editor", Permissions: []string{"notes:purge"},
			Roles: []string{"clerk"}, Scopes: []string{}, Behind: []string{"4:acme/6:apikey/owner"}, Expires: time.Date(2100, 1, 2, 3, 4, 5, 6000, time.UTC),
		},
		Via: ambit.HTTP | ambit.MCP, Agent: ambit.AgentIdentity{URL: "https://agent.example/", Key: "key", Level: ambit.AgentOnce},
		Run: 1<<63 + 7, Call: 8, Request: "request-9", Title: "Purge notes", Effect: ambit.Destructive, Reason: "they are old",
		Key: digest("key of " + input), Input: []byte("sealed " + input), Summary: []byte("sealed too"), Preview: digest("preview"), Version: "v1",
		DecidePermission: "approvals:decide", DecideWithin: decideWithin, ExecuteWithin: executeWithin,
	}
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func atLevel(level ambit.Approval) func(*ambit.Proposal) {
	return func(p *ambit.Proposal) { p.Level = level }
}

func withQuorum(n int) func(*ambit.Proposal) { return func(p *ambit.Proposal) { p.Quorum = n } }

// decision is what a person says who has seen the suite's preview.
func (b bench) decision(who string, v approval.Verdict) approval.Decision {
	p := &ambit.Principal{Tenant: b.tenant, Authority: "login", Subject: who, Permissions: []string{"approvals:decide"}, Unscoped: true}
	return approval.Decision{Decider: p.Key(), Name: who, Principal: p, Verdict: v, Reason: "because", Preview: digest("preview")}
}

// claim is the one that a call makes which a proposal allows.
func claim(p ambit.Proposal, id string) ambit.Claim {
	return ambit.Claim{
		Attempt: attempt(), Binding: p.Binding, Lease: lease,
		Approval: ambit.ApprovalClaim{ID: id, Level: p.Level, Preview: p.Preview},
	}
}

// keyed is the claim of a call with an idempotency key.
func (b bench) keyed(key, input string) ambit.Claim {
	return ambit.Claim{Attempt: attempt(), Key: digest(b.tenant + key), Binding: b.binding("robot", input), Lease: lease}
}

// propose asks a question that has to be taken.
func (b bench) propose(t *testing.T, p ambit.Proposal) approval.Record {
	t.Helper()
	r, _, err := b.Approvals.Propose(t.Context(), rand.Text(), p, approval.Caps{}, nil)
	if err != nil {
		t.Fatalf("Propose: %v", err)
	}
	return r
}

// decide says what a person says, which has to be taken.
func (b bench) decide(t *testing.T, id, who string, v approval.Verdict) approval.Record {
	t.Helper()
	r, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision(who, v), nil)
	if err != nil || !changed {
		t.Fatalf("Decide(%s by %s): changed %t, error %v, state %s", v, who, changed, err, r.State)
	}
	return r
}

// approved is a proposal that has been approved.
func (b bench) approved(t *testing.T, p ambit.Proposal) approval.Record {
	t.Helper()
	return b.decide(t, b.propose(t, p).ID, "ann", approval.Approve)
}

// take makes a claim that has to be made.
func (b bench) take(t *testing.T, c ambit.Claim) {
	t.Helper()
	if r, err := b.Approvals.Claim(t.Context(), c); err != nil || r.State != ambit.RecordFree || r.Approval.ID != "" {
		t.Fatalf("Claim: want it made, got record %v, proposal %q %s, error %v", r.State, r.Approval.ID, r.Approval.State, err)
	}
}

// receipt is what claims are finished with beside their outcomes.
const receipt = "receipt"

// finish ends a claim that has to be there.
func (b bench) finish(t *testing.T, c ambit.Claim, outcome string) {
	t.Helper()
	if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Outcome: []byte(outcome), Receipt: []byte(receipt)}); err != nil {
		t.Fatalf("Finish: %v", err)
	}
}

// get returns a record that has to be there.
func (b bench) get(t *testing.T, id string) approval.Record {
	t.Helper()
	r, err := b.Approvals.Get(t.Context(), b.tenant, id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return r
}

// version returns the version of a proposal's row, where the store can tell.
func (b bench) version(t *testing.T, id string) (version string) {
	t.Helper()
	if b.Version == nil {
		return ""
	}
	version, err := b.Version(t.Context(), id)
	if err != nil {
		t.Fatalf("Version: %v", err)
	}
	return version
}

// atATime is how many things turnsOver adds before they expire.
const atATime = 20

// turnsOver checks that what is added takes the place of what has expired: nobody
// else may be there to remove it. Add adds the thing of a number, which has expired
// when the store's clock is set ahead by the time given.
func (b bench) turnsOver(t *testing.T, expires time.Duration, add func(n int)) {
	t.Helper()
	if b.Expiring == nil {
		t.Skip("the store does not tell what it keeps")
	}
	for round := range 3 {
		for n := range atATime {
			add(round*atATime + n)
		}
		if kept, err := b.Expiring(t.Context()); err != nil || kept != atATime {
			t.Errorf("after %d were added, of which %d are current: got %d kept, error %v", (round+1)*atATime, atATime, kept, err)
		}
		b.Advance(expires)
	}
}

// state checks how far a proposal has come.
func (b bench) state(t *testing.T, id string, want ambit.ProposalState) {
	t.Helper()
	if got := b.get(t, id).State; got != want {
		t.Errorf("state of the proposal: want %s, got %s", want, got)
	}
}

// found checks what stands in the way of a claim, both as Find and as Claim see
// it: nothing may be claimed by that.
func (b bench) found(t *testing.T, c ambit.Claim, state ambit.RecordState, outcome string) {
	t.Helper()
	found, err := b.Approvals.Find(t.Context(), c)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	if found.State != state || !bytes.Equal(found.Outcome, []byte(outcome)) {
		t.Errorf("Find: want state %d and outcome %q, got %d and %q", state, outcome, found.State, found.Outcome)
	}
	if state == ambit.RecordFree {
		return
	}
	if found.Operation == (ambit.Digest{}) {
		t.Error("Find: the record has no operation")
	}
	c.Attempt = attempt()
	claimed, err := b.Approvals.Claim(t.Context(), c)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	if !bytes.Equal(found.Outcome, claimed.Outcome) {
		t.Error("Claim returns another outcome than Find")
	}
	found.Outcome, claimed.Outcome = nil, nil // some are large
	if diff := cmp.Diff(found, claimed); diff != "" {
		t.Errorf("Claim returns another record than Find (-Find +Claim):\n%s", diff)
	}
}

// subjects are texts that a caller can be called by, none of which is another: some
// that databases keep in no column, and some that are too long for an index.
func subjects() []string {
	long := "" // which nothing makes shorter
	for i := range 100 {
		long += fmt.Sprintf("%x", digest(fmt.Sprint(i)))
	}
	return []string{"ann", "ann\x00", "ann\x00e", "ann\ufffd", "ann\xff", "ann\xfe", `"ann\x00"`, long, long + "e"}
}

// near compares times that a store has set with those of this process.
func near() cmp.Option { return cmpopts.EquateApproxTime(time.Minute) }
