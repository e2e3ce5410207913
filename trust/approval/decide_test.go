package approval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// relation is how somebody who decides stands to a requester behind whom is owner.
type relation struct {
	name    string
	decider func(n *notes, requester *ambit.Principal) *ambit.Principal
}

func relations() []relation {
	return []relation{
		{"the requester", func(_ *notes, requester *ambit.Principal) *ambit.Principal { return requester }},
		{"the person behind the requester", func(n *notes, _ *ambit.Principal) *ambit.Principal { return n.person("owner") }},
		{"somebody with the same person behind", func(n *notes, _ *ambit.Principal) *ambit.Principal {
			return n.person("other account", behind(n.person("owner")))
		}},
		{"somebody whom the requester is behind", func(n *notes, requester *ambit.Principal) *ambit.Principal {
			return n.person("deputy", behind(requester))
		}},
		{"the same person in another tenant behind", func(n *notes, _ *ambit.Principal) *ambit.Principal {
			return n.person("elsewhere too", behind(n.person("owner", in("acme"))))
		}},
		{"a stranger", func(n *notes, _ *ambit.Principal) *ambit.Principal { return n.person("bob") }},
		{"a stranger without the permission", func(n *notes, _ *ambit.Principal) *ambit.Principal {
			return n.person("carol", holding("notes:purge"))
		}},
		{"a stranger of another tenant", func(n *notes, _ *ambit.Principal) *ambit.Principal { return n.person("dave", in("acme")) }},
		{"a service", func(n *notes, _ *ambit.Principal) *ambit.Principal { return n.person("robot", as(ambit.KindService)) }},
		{"an agent", func(n *notes, _ *ambit.Principal) *ambit.Principal { return n.person("model", as(ambit.KindAgent)) }},
		{"nobody", func(*notes, *ambit.Principal) *ambit.Principal { return &ambit.Principal{Kind: ambit.KindAnonymous} }},
		{"none", func(*notes, *ambit.Principal) *ambit.Principal { return nil }},
	}
}

// Who may say what about whose proposal.
func TestT13_RelationsAndLevels(t *testing.T) {
	t.Parallel()
	verdicts := []approval.Verdict{approval.Approve, approval.Deny, approval.Revoke}
	var got strings.Builder
	for _, capability := range []string{"notes.purge", "notes.purge_all", "notes.confirm"} {
		for _, relation := range relations() {
			fmt.Fprintf(&got, "%-16s %-41s", capability, relation.name)
			for _, v := range verdicts {
				n := newNotes(t, approval.Options{})
				requester := n.person("alice", behind(n.person("owner")))
				id := n.ask(requester, capability, "old")
				answer := codeOf(n.decide(relation.decider(n, requester), id, v))
				if answer == "" {
					answer = "yes"
				}
				fmt.Fprintf(&got, " %s=%s", v, answer)
			}
			got.WriteString("\n")
		}
	}
	golden(t, "relations.txt", got.String())
}

func TestT13_DenyWins(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	id := n.ask(n.person("alice"), "notes.purge_both", "old")
	n.must(n.decide(n.person("bob"), id, approval.Approve))
	if want, got := "pending", n.state(id); want != got {
		t.Errorf("after one of two: want %s, got %s", want, got)
	}
	n.must(n.decide(n.person("carol"), id, approval.Deny))
	if want, got := "denied", n.state(id); want != got {
		t.Errorf("after a no: want %s, got %s", want, got)
	}
	if want, got := ambit.CodeConflict, codeOf(n.decide(n.person("dave"), id, approval.Approve)); want != got {
		t.Errorf("approving what was denied: want %s, got %s", want, got)
	}
	waits, err := n.asked(n.person("alice"), "notes.purge_both", shelfInput{Folder: "old"}, "please")
	if codeOf(err) != ambit.CodeApprovalDenied || waits.ID != id || waits.State != ambit.ProposalDenied || waits.Reason != "because" {
		t.Errorf("asked again: want the denial with its reason, got %v, %+v", err, waits)
	}
}

// A quorum takes as many persons, not as many accounts.
func TestT13_QuorumCountsPersons(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	id := n.ask(n.person("alice"), "notes.purge_both", "old")
	bob := n.person("bob")
	n.must(n.decide(bob, id, approval.Approve))
	for _, again := range []*ambit.Principal{bob, n.person("bob at work", behind(bob)), n.person("bob elsewhere", behind(n.person("bob", in("acme"))))} {
		if want, got := ambit.CodeConflict, codeOf(n.decide(again, id, approval.Approve)); want != got {
			t.Errorf("%s: want %s, got %s", again.Subject, want, got)
		}
	}
	if want, got := "pending", n.state(id); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
	n.must(n.decide(n.person("carol"), id, approval.Approve))
	if want, got := "approved", n.state(id); want != got {
		t.Errorf("after two persons: want %s, got %s", want, got)
	}
}

// Who has lost the permission to decide has not decided, once the call comes.
func TestT13_DecidersStillMay(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	alice, bob, carol := n.person("alice"), n.person("bob"), n.person("carol")
	id := n.ask(alice, "notes.purge_both", "old")
	n.must(n.decide(bob, id, approval.Approve))
	n.must(n.decide(carol, id, approval.Approve))
	n.allow(bob, "notes:purge")
	if again := n.ask(alice, "notes.purge_both", "old"); again != id {
		t.Errorf("want the same proposal, got %s and %s", id, again)
	}
	r, err := n.store.Get(t.Context(), "", id)
	n.must(err)
	if r.State != ambit.ProposalPending || len(r.Decisions) != 1 || r.Decisions[0].Name != "carol" {
		t.Errorf("want it pending with carol's word alone, got %s with %+v", r.State, r.Decisions)
	}
	n.must(n.decide(n.person("dave"), id, approval.Approve))
	if want, got := "approved", n.state(id); want != got {
		t.Errorf("with another person's word: want %s, got %s", want, got)
	}
	if failure := n.call(alice, "notes.purge_both", shelfInput{Folder: "old"}, ""); failure != nil || n.calls.Load() != 1 || n.state(id) != "succeeded" {
		t.Errorf("asked again: want it made once, got %v, %d calls, %s", failure, n.calls.Load(), n.state(id))
	}
}

// A decision holds for what the person saw.
func TestT16_DecidedWhatWasSeen(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	bob := n.person("bob")
	id := n.ask(n.person("alice"), "notes.purge", "old")
	view, err := n.approvals.View(t.Context(), n.app, bob, id)
	n.must(err)
	if diff := cmp.Diff(`{"folder":"old"}`, string(view.Review.Input)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	seen := view.Seen()
	for _, test := range []struct {
		name    string
		preview ambit.Digest
	}{{"nothing seen", ambit.Digest{}}, {"another preview", ambit.Digest{1}}} {
		_, err := n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Approve, Preview: test.preview})
		if want, got := ambit.CodeConflict, codeOf(err); want != got {
			t.Errorf("%s: want %s, got %s", test.name, want, got)
		}
	}
	n.fill("4 notes")
	_, err = n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Approve, Preview: seen})
	if want, got := ambit.CodeConflict, codeOf(err); want != got || n.state(id) != "pending" {
		t.Errorf("what changed since: want %s and pending, got %s and %s", want, got, n.state(id))
	}
	n.must(n.decide(bob, id, approval.Approve))
	if want, got := "approved", n.state(id); want != got {
		t.Errorf("having looked again: want %s, got %s", want, got)
	}
}

// Words about another preview do not add up.
func TestT16_QuorumIsAboutOnePreview(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		n := newNotes(t, approval.Options{})
		alice := n.person("alice")
		id := n.ask(alice, "notes.purge_both", "old")
		n.must(n.decide(n.person("bob"), id, approval.Approve))
		n.fill("4 notes")
		if asked {
			n.ask(alice, "notes.purge_both", "old")
			if r, err := n.store.Get(t.Context(), "", id); err != nil || r.State != ambit.ProposalPending || len(r.Decisions) != 0 {
				t.Errorf("asked again: want it pending and undecided, got %s with %d, %v", r.State, len(r.Decisions), err)
			}
		}
		n.must(n.decide(n.person("carol"), id, approval.Approve))
		if r, err := n.store.Get(t.Context(), "", id); err != nil || r.State != ambit.ProposalPending || len(r.Decisions) != 1 || r.Decisions[0].Name != "carol" {
			t.Errorf("the second word, about another preview: want it pending with carol's alone, got %s with %+v, %v", r.State, r.Decisions, err)
		}
		n.must(n.decide(n.person("bob"), id, approval.Approve))
		if want, got := "approved", n.state(id); want != got {
			t.Errorf("both about the new one: want %s, got %s", want, got)
		}
	}
}

// What a handler, a middleware or anything else of a run does is no person, with
// whatever principal it comes.
func TestT12_NothingOfARunDecides(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	bob := n.person("bob")
	id := n.ask(n.person("alice"), "notes.purge", "old")
	ctx, run := n.app.NewRun(t.Context(), ambit.RunOptions{Principal: bob, Surface: ambit.CommandLine})
	defer run.End()
	answers := map[string]ambit.Code{}
	_, err := n.approvals.Decide(ctx, n.app, bob, approval.Ruling{ID: id, Verdict: approval.Deny})
	answers["decide"] = codeOf(err)
	_, err = n.approvals.View(context.WithoutCancel(ctx), n.app, bob, id)
	answers["view"] = codeOf(err)
	_, _, err = n.approvals.List(ctx, n.app, bob, approval.Filter{})
	answers["list"] = codeOf(err)
	want := map[string]ambit.Code{"decide": ambit.CodeNotFound, "view": ambit.CodeNotFound, "list": ambit.CodeNotFound}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := n.state(id); got != "pending" {
		t.Errorf("want pending, got %s", got)
	}
}

func TestReasonsAreOneLine(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	bob := n.person("bob")
	id := n.ask(n.person("alice"), "notes.purge", "old")
	for reason, want := range map[string]ambit.Code{
		"two\nlines": ambit.CodeInvalidInput, "bell\a": ambit.CodeInvalidInput, "sep\u2028": ambit.CodeInvalidInput, "\xff": ambit.CodeInvalidInput,
		strings.Repeat("ü", 201): ambit.CodeInvalidInput, strings.Repeat("ü", 200): "",
	} {
		_, err := n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Deny, Reason: reason})
		if got := codeOf(err); want != got {
			t.Errorf("%.20q: want %q, got %q", reason, want, got)
		}
		if want == "" {
			id = n.ask(n.person("alice"), "notes.purge", "older")
		}
	}
	if _, err := n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id}); codeOf(err) != ambit.CodeInvalidInput {
		t.Errorf("no verdict: want %s, got %v", ambit.CodeInvalidInput, err)
	}
}

// Weakness: nothing could be taken back once it was approved.
func TestWeakness_ApprovedIsRevoked(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	alice, bob := n.person("alice"), n.person("bob")
	id := n.ask(alice, "notes.purge", "old")
	n.must(n.decide(bob, id, approval.Approve))
	n.must(n.decide(n.person("carol"), id, approval.Revoke))
	if want, got := "revoked", n.state(id); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
	waits, err := n.asked(alice, "notes.purge", shelfInput{Folder: "old"}, "again")
	if codeOf(err) != ambit.CodeApprovalDenied || waits.ID != id || waits.State != ambit.ProposalRevoked || n.calls.Load() != 0 {
		t.Errorf("asked again: want the revoked one and no call, got %v, %+v", err, waits)
	}
}

// Weakness: one time for deciding and executing, so that what was approved at the
// last second was lost.
func TestWeakness_ApprovedAtTheLastSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNotes(t, approval.Options{})
		id := n.ask(n.person("alice"), "notes.purge", "old")
		time.Sleep(ambit.DefaultDecideWithin - time.Second)
		n.must(n.decide(n.person("bob"), id, approval.Approve))
		time.Sleep(ambit.DefaultExecuteWithin - time.Second)
		if want, got := "approved", n.state(id); want != got {
			t.Errorf("within the time to execute: want %s, got %s", want, got)
		}
		time.Sleep(time.Second)
		if want, got := "expired", n.state(id); want != got {
			t.Errorf("after it: want %s, got %s", want, got)
		}
	})
}

// Weakness: a list of all that waits, with inputs, for whoever asked, of every
// tenant.
func TestWeakness_ListsAreOfOneTenantAndPaged(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	alice, bob := n.person("alice"), n.person("bob")
	mallory := n.person("mallory", in("acme"))
	n.ask(mallory, "notes.purge", "theirs")
	var asked []string
	for i := range 5 {
		asked = append([]string{n.ask(alice, "notes.purge", fmt.Sprint("old", i))}, asked...)
	}
	n.ask(alice, "notes.confirm", "mine") // which nobody but alice confirms
	var listed []string
	pages := 0
	for after, more := "", true; more; more = after != "" {
		page, next, err := n.approvals.List(t.Context(), n.app, bob, approval.Filter{Tenant: "acme", After: after, Limit: 2})
		n.must(err)
		for _, r := range page {
			listed = append(listed, r.ID)
			if r.Proposal.Input != nil {
				t.Error("want no input in a list")
			}
		}
		after = next
		pages++
	}
	if diff := cmp.Diff(asked, listed); diff != "" || pages < 3 {
		t.Errorf("listed on %d pages (-want +got):\n%s", pages, diff)
	}
	page, _, err := n.approvals.List(t.Context(), n.app, n.person("carol", holding("notes:purge")), approval.Filter{})
	if n.must(err); len(page) != 0 {
		t.Errorf("without the permission: want nothing, got %d", len(page))
	}
}

// Weakness: nothing bounded what could be asked.
func TestWeakness_PendingProposalsAreBounded(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{Caps: approval.Caps{Requester: 2, Tenant: 3}})
	alice, bob := n.person("alice"), n.person("bob")
	n.ask(alice, "notes.purge", "a")
	n.ask(alice, "notes.purge", "b")
	n.ask(alice, "notes.purge", "b") // the same one
	ask := func(who *ambit.Principal, folder string) ambit.Code {
		_, err := n.asked(who, "notes.purge", shelfInput{Folder: folder}, "")
		return codeOf(err)
	}
	if want, got := ambit.CodeRateLimited, ask(alice, "c"); want != got {
		t.Errorf("a third of one requester: want %s, got %q", want, got)
	}
	n.ask(bob, "notes.purge", "a")
	if want, got := ambit.CodeRateLimited, ask(n.person("carol"), "a"); want != got {
		t.Errorf("a fourth of one tenant: want %s, got %q", want, got)
	}
	n.ask(n.person("mallory", in("acme")), "notes.purge", "a")
}

// An unknown end is settled by a person, at every level.
func TestT17_APersonSettles(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	alice, bob := n.person("alice"), n.person("bob")
	for _, capability := range []string{"notes.purge", "notes.purge_all", "notes.confirm"} {
		for _, test := range []struct {
			by   *ambit.Principal
			v    approval.Verdict
			code ambit.Code
			want string
		}{
			{bob, approval.SettleSucceeded, "", "succeeded"},
			{bob, approval.SettleFailed, "", "failed"},
			{alice, approval.SettleFailed, map[bool]ambit.Code{true: ambit.CodeForbidden}[capability == "notes.purge_all"], map[bool]string{true: "unknown", false: "failed"}[capability == "notes.purge_all"]},
		} {
			folder := fmt.Sprint(capability, test.by.Subject, test.v)
			id := n.ask(alice, capability, folder)
			if capability != "notes.confirm" {
				n.must(n.decide(bob, id, approval.Approve))
			}
			n.lose(id)
			if want, got := "unknown", n.state(id); want != got {
				t.Fatalf("%s: want %s, got %s", capability, want, got)
			}
			if got := codeOf(n.decide(bob, id, approval.Approve)); got != ambit.CodeConflict {
				t.Errorf("%s: approving what is under way: want %s, got %q", capability, ambit.CodeConflict, got)
			}
			if got := codeOf(n.decide(test.by, id, test.v)); got != test.code {
				t.Errorf("%s, %s by %s: want %q, got %q", capability, test.v, test.by.Subject, test.code, got)
			}
			if got := n.state(id); got != test.want {
				t.Errorf("%s, %s by %s: want %s, got %s", capability, test.v, test.by.Subject, test.want, got)
			}
		}
	}
}

// lose claims a proposal as a call does whose process dies then.
func (n *notes) lose(id string) {
	n.t.Helper()
	r, err := n.store.Get(n.t.Context(), "", id)
	n.must(err)
	c := ambit.Claim{
		Binding: r.Proposal.Binding, Lease: time.Minute,
		Approval: ambit.ApprovalClaim{ID: id, Level: r.Proposal.Level, Preview: r.Proposal.Preview},
	}
	copy(c.Attempt[:], id)
	record, err := n.store.Claim(n.t.Context(), c)
	n.must(err)
	if record.State != ambit.RecordFree || record.Approval.ID != "" {
		n.t.Fatalf("want the claim made, got %+v", record)
	}
	n.store.Advance(time.Minute + time.Second)
}
