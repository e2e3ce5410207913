package ambittest_test

import (
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/trust/approval"
)

// A call that takes other eyes waits, is not allowed by who asked, and runs once
// somebody else has.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, way := range []ambittest.Way{ambittest.InProcess, ambittest.CommandLine, ambittest.HTTP} {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			app, approvals := newPurger(t, true, ambit.FourEyes)
			h := ambittest.New(t, app)
			paul := h.As(ambittest.User("paul", "purge", "approvals:decide")).Over(way)
			bob := h.As(ambittest.User("bob", "approvals:decide"))

			yes := approval.Ruling{ID: paul.Call("purge", "{}").Refused(ambit.CodeApprovalPending).Approval.ID, Verdict: approval.Approve}
			paul.Decide(approvals, yes).Refused(ambit.CodeForbidden)
			h.As(ambittest.Agent("robbie", "approvals:decide")).Decide(approvals, yes).Refused(ambit.CodeNotFound)
			stale := yes
			stale.Preview[0]++
			bob.Decide(approvals, stale).Refused(ambit.CodeConflict)
			if want, got := `"approved"`, bob.Decide(approvals, yes).OK(); want != got {
				t.Errorf("state: want %s, got %s", want, got)
			}
			paul.Call("purge", "{}").OK()
			h.CheckVersions()
		})
	}
}

// A denial reaches who asked, with its reason.
func TestDecideNo(t *testing.T) {
	t.Parallel()
	app, approvals := newPurger(t, true, ambit.Human)
	h := ambittest.New(t, app)
	paul := h.As(ambittest.User("paul", "purge"))
	no := approval.Ruling{ID: paul.Call("purge", "{}").Refused(ambit.CodeApprovalPending).Approval.ID, Verdict: approval.Deny, Reason: "Not today."}
	if want, got := `"denied"`, h.As(ambittest.User("bob", "approvals:decide")).Decide(approvals, no).OK(); want != got {
		t.Errorf("state: want %s, got %s", want, got)
	}
	if want, got := no.Reason, paul.Call("purge", "{}").Refused(ambit.CodeApprovalDenied).Approval.Reason; want != got {
		t.Errorf("reason: want %q, got %q", want, got)
	}
}
