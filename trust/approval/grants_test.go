package approval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

const longestGrant = 30 * 24 * time.Hour

// newGrantable is an application that takes standing grants.
func newGrantable(t *testing.T, adjust ...func(*ambit.Options)) *notes {
	t.Helper()
	return newNotes(t, approval.Options{LongestGrant: longestGrant}, adjust...)
}

// allowing is a grant for ten purges of old folders by somebody.
func allowing(who *ambit.Principal, edits ...func(*approval.Grant)) approval.Grant {
	g := approval.Grant{
		Principal: who.Key(), Capability: "notes.purge", Input: json.RawMessage(`{"properties":{"folder":{"pattern":"^old"}}}`),
		Until: time.Now().Add(24 * time.Hour), Budget: 10, Given: approval.Decision{Reason: "the nightly clean-up"},
	}
	for _, edit := range edits {
		edit(&g)
	}
	return g
}

func calling(capability string) func(*approval.Grant) {
	return func(g *approval.Grant) { g.Capability = capability }
}

func schemaOf(text string) func(*approval.Grant) {
	return func(g *approval.Grant) { g.Input = json.RawMessage(text) }
}

func times(n int) func(*approval.Grant) { return func(g *approval.Grant) { g.Budget = n } }

// give lets somebody allow something in advance, which has to be taken.
func (n *notes) give(granter *ambit.Principal, g approval.Grant) approval.Grant {
	n.t.Helper()
	given, err := n.approvals.Give(n.t.Context(), n.app, granter, g)
	n.must(err)
	return given
}

// purges makes a call, and says what became of it.
func (n *notes) purges(who *ambit.Principal, capability, folder string) ambit.Code {
	n.t.Helper()
	failure := n.call(who, capability, shelfInput{Folder: folder}, "")
	if failure == nil {
		return ""
	}
	return failure.Code
}

// used checks how many calls a grant has approved.
func (n *notes) used(g approval.Grant, want int) {
	n.t.Helper()
	if kept, err := n.store.Grant(n.t.Context(), g.Tenant, g.ID); err != nil || kept.Used != want {
		n.t.Errorf("calls of the grant that are used: want %d, got %d, error %v", want, kept.Used, err)
	}
}

// Whose grant counts for whose calls: it is the word of its granter, by every rule
// by which that counts.
func TestT20_RelationsAndLevels(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, capability := range []string{"notes.purge", "notes.purge_all", "notes.purge_both", "notes.confirm"} {
		for _, relation := range relations() {
			n := newGrantable(t)
			requester := n.person("alice", behind(n.person("owner")))
			granter := relation.decider(n, requester)
			_, err := n.approvals.Give(t.Context(), n.app, granter, allowing(requester, calling(capability)))
			answer, after := codeOf(err), n.purges(requester, capability, "old")
			if answer == "" {
				answer = "yes"
			}
			if after == "" {
				after = "made"
			}
			fmt.Fprintf(&got, "%-16s %-41s given=%s call=%s\n", capability, relation.name, answer, after)
			if want := map[bool]int64{true: 1}[after == "made"]; n.calls.Load() != want {
				t.Errorf("%s, %s: want %d calls where it is %s, got %d", capability, relation.name, want, after, n.calls.Load())
			}
		}
	}
	golden(t, "grants.txt", got.String())
}

// Nothing runs by a grant that it does not name.
func TestT20_NothingOutsideRuns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		edit  func(*approval.Grant)
		where func(n *notes, granter *ambit.Principal) // between granting and calling
		who   func(*ambit.Principal)                   // how the caller is another one
		call  string                                   // the capability; "" for the one of the grant
		in    shelfInput
	}{
		{name: "another input", in: shelfInput{Folder: "new"}},
		{name: "an input that has more", edit: schemaOf(`{"properties":{"folder":{"type":"string"}},"additionalProperties":false}`), in: shelfInput{Folder: "old", Reason: "x"}},
		{name: "a member that has to be there", edit: schemaOf(`{"properties":{"reason":{"const":"x"}},"required":["reason"]}`), in: shelfInput{Folder: "old"}},
		{name: "another capability", call: "notes.purge_both"},
		{name: "another caller", who: func(p *ambit.Principal) { p.Subject = "mallory" }},
		{name: "another authority", who: func(p *ambit.Principal) { p.Authority = "apikey" }},
		{name: "another client", who: func(p *ambit.Principal) { p.Client = "editor" }},
		{name: "none of the client that is named", edit: func(g *approval.Grant) { g.Client = "editor" }},
		{name: "none of the agent that is named", edit: func(g *approval.Grant) { g.Agent = "https://agent.example" }},
		{name: "more calls", where: func(n *notes, _ *ambit.Principal) {
			for i := range 10 {
				if code := n.purges(n.person("alice"), "notes.purge", fmt.Sprint("old ", i)); code != "" {
					n.t.Errorf("call %d: %s", i, code)
				}
			}
			n.calls.Store(0)
		}},
		{name: "later", where: func(n *notes, _ *ambit.Principal) { n.store.Advance(24 * time.Hour) }},
		{name: "once it is revoked", where: func(n *notes, granter *ambit.Principal) {
			list, _, err := n.approvals.Grants(n.t.Context(), n.app, granter, approval.GrantFilter{})
			n.must(err)
			_, err = n.approvals.RevokeGrant(n.t.Context(), n.app, granter, list[0].ID, "")
			n.must(err)
		}},
		{name: "when its granter may not decide", where: func(n *notes, granter *ambit.Principal) { n.allow(granter, "notes:purge") }},
		{name: "when its granter is gone", where: func(n *notes, granter *ambit.Principal) {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.people, granter.Key())
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newGrantable(t)
			alice, bob := n.person("alice"), n.person("bob")
			g := allowing(alice)
			if test.edit != nil {
				test.edit(&g)
			}
			n.give(bob, g)
			caller := alice
			if test.who != nil {
				caller = n.person("alice", test.who)
			}
			if test.where != nil {
				test.where(n, bob)
			}
			if test.call == "" {
				test.call = "notes.purge"
			}
			if test.in.Folder == "" {
				test.in.Folder = "old"
			}
			failure := n.call(caller, test.call, test.in, "")
			if failure == nil || failure.Code != ambit.CodeApprovalPending || n.calls.Load() != 0 {
				t.Errorf("want it to wait, got %v and %d calls", failure, n.calls.Load())
			}
		})
	}
}

// A schema that takes more work than one check may cost allows nothing: the call
// waits for a person. None that can is taken; this one is in the store all the same.
func TestT26_GrantsTakeBoundedWork(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]ambit.Code{4: "", 18: ambit.CodeApprovalPending} {
		text := `{"allOf":[{"$ref":"#/$defs/0"}],"$defs":{`
		for i := range depth { // each applies the next one twice
			text += fmt.Sprintf(`"%d":{"allOf":[{"$ref":"#/$defs/%[2]d"},{"$ref":"#/$defs/%[2]d"}]},`, i, i+1)
		}
		n := newGrantable(t)
		alice := n.person("alice")
		view, err := n.approvals.CheckGrant(t.Context(), n.app, n.person("bob"), allowing(alice))
		n.must(err)
		view.Grant.ID, view.Grant.Input = "grant", json.RawMessage(text+fmt.Sprintf(`"%d":{"type":"object"}}}`, depth))
		g, err := n.store.Give(t.Context(), view.Grant, nil)
		n.must(err)
		if got := n.purges(alice, "notes.purge", "old"); got != want {
			t.Errorf("%d times twice: want %q, got %q", depth, want, got)
		}
		n.used(g, map[ambit.Code]int{"": 1}[want])
	}
}

// A grant is for one tenant, and so is whoever gives it.
func TestT20_TenantsApart(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	bob := n.person("bob")
	for _, other := range []*ambit.Principal{n.person("alice", in("acme")), {Tenant: "acme/0:", Authority: "login", Subject: "alice"}} {
		if _, err := n.approvals.Give(t.Context(), n.app, bob, allowing(other)); codeOf(err) != ambit.CodeInvalidInput {
			t.Errorf("for %s: want %s, got %v", other.Key(), ambit.CodeInvalidInput, err)
		}
	}
	elsewhere := n.person("bob", in("acme"))
	g := n.give(elsewhere, allowing(n.person("alice", in("acme"))))
	if got := n.purges(n.person("alice"), "notes.purge", "old"); got != ambit.CodeApprovalPending {
		t.Errorf("the same name in another tenant: want it to wait, got %q", got)
	}
	if _, err := n.approvals.Grant(t.Context(), n.app, bob, g.ID); codeOf(err) != ambit.CodeNotFound {
		t.Errorf("looking at it: want %s, got %v", ambit.CodeNotFound, err)
	}
	if _, err := n.approvals.RevokeGrant(t.Context(), n.app, bob, g.ID, ""); codeOf(err) != ambit.CodeNotFound {
		t.Errorf("revoking it: want %s, got %v", ambit.CodeNotFound, err)
	}
	if list, _, err := n.approvals.Grants(t.Context(), n.app, bob, approval.GrantFilter{Tenant: "acme"}); err != nil || len(list) != 0 {
		t.Errorf("listing: want none, got %d, %v", len(list), err)
	}
}

// A release that changes the capability ends its grants.
func TestT20_AnotherContract(t *testing.T) {
	t.Parallel()
	store := memory.New()
	before := newNotesOn(t, store, approval.Options{LongestGrant: longestGrant})
	after := newNotesOn(t, store, approval.Options{LongestGrant: longestGrant}, func(o *ambit.Options) { o.Version = "revised" })
	alice, bob := before.person("alice"), before.person("bob")
	after.people = before.people
	g := before.give(bob, allowing(alice))
	if got := after.purges(alice, "notes.purge", "old"); got != ambit.CodeApprovalPending {
		t.Errorf("under the new contract: want it to wait, got %q", got)
	}
	if got := before.purges(alice, "notes.purge", "old"); got != "" {
		t.Errorf("under the contract of the grant: want it made, got %q", got)
	}
	view, err := after.approvals.Grant(t.Context(), after.app, bob, g.ID)
	if after.must(err); !view.Changed || !strings.Contains(view.String(), "nothing is approved by it any more") {
		t.Errorf("want to be told that the capability has changed, got\n%s", view)
	}
}

// Who stands behind a granter is known as of the call, not as of the grant, which may
// be a month old; and so it is of whoever has decided.
func TestT13_OtherEyesAsOfNow(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice, bob := n.person("alice"), n.person("bob")
	n.give(bob, allowing(alice, calling("notes.purge_all")))
	id := n.ask(alice, "notes.purge_all", "by hand") // which the schema of the grant is not about
	n.must(n.decide(bob, id, approval.Approve))
	n.person("bob", behind(alice))
	for _, folder := range []string{"old", "by hand"} {
		if got := n.purges(alice, "notes.purge_all", folder); got != ambit.CodeApprovalPending {
			t.Errorf("%s, with one person behind both: want it to wait, got %q", folder, got)
		}
	}
	n.person("bob")
	if got := n.purges(alice, "notes.purge_all", "old"); got != "" {
		t.Errorf("with two persons: want it made, got %q", got)
	}
}

// Two who have turned out to be one person are one of a quorum, whichever of them is
// known to stand behind the other, and whether they have decided or given a grant.
func TestT13_QuorumAsOfNow(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		n := newGrantable(t)
		alice, bob, bobby := n.person("alice"), n.person("bob"), n.person("bobby")
		id := n.ask(alice, "notes.purge_both", "by hand") // which the schema of the grants is not about
		for i, granter := range []*ambit.Principal{bob, bobby} {
			n.must(n.decide(granter, id, approval.Approve))
			n.give(granter, allowing(alice, calling("notes.purge_both"), func(g *approval.Grant) { g.Until = g.Until.Add(time.Duration(i) * time.Hour) }))
		}
		if first {
			n.person("bob", behind(bobby))
		} else {
			n.person("bobby", behind(bob))
		}
		for _, folder := range []string{"old", "old", "by hand", "by hand"} {
			if got := n.purges(alice, "notes.purge_both", folder); got != ambit.CodeApprovalPending {
				t.Errorf("%s, one person, the first one %t: want it to wait, got %q", folder, first, got)
			}
		}
		n.must(n.decide(n.person("carol"), id, approval.Approve))
		n.give(n.person("carol"), allowing(alice, calling("notes.purge_both")))
		for _, folder := range []string{"old", "by hand"} {
			if got := n.purges(alice, "notes.purge_both", folder); got != "" {
				t.Errorf("%s, with another person: want it made, got %q", folder, got)
			}
		}
	}
}
