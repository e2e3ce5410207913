package interop_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	gocmp "github.com/google/go-cmp/cmp"
)

// stateFor returns the state that goes with the question about a call, as a client
// got it that shows addresses. Whoever is shown this one decides nothing.
func (a *asking) stateFor(t *testing.T, asked call) string {
	t.Helper()
	a.onVisit(func(context.Context, string) error { return nil })
	shows := a.target
	shows.Shows = true
	want := []outcome{{IsError: true, Error: ambit.CodeApprovalPending}}
	if diff := gocmp.Diff(want, outcomes(t, client{observe: observeGoSDK}, shows, asked)); diff != "" {
		t.Fatalf("accepted without a decision (-want +got):\n%s", diff)
	}
	sent := a.repeats()
	if len(sent) != 1 || sent[0].Responses["approval"].Action != "accept" {
		t.Fatalf("want one repeated call that accepts, got %+v", sent)
	}
	return sent[0].State
}

// try is a call that must not run, and how it is answered.
type try struct {
	call call
	want outcome
}

// tries has a client make calls, all of which must come to the server as they are.
func (a *asking) tries(t *testing.T, name string, c client, to target, tries []try) {
	t.Helper()
	var calls []call
	var want []outcome
	var sent []repeat
	for _, one := range tries {
		calls, want = append(calls, one.call), append(want, one.want)
		r := repeat{State: one.call.State}
		if one.call.Accepts {
			r.Responses = map[string]response{"approval": {Action: "accept"}}
		}
		if one.call.State != "" || one.call.Accepts {
			sent = append(sent, r)
		}
	}
	if diff := gocmp.Diff(want, outcomes(t, c, to, calls...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if diff := gocmp.Diff(sent, a.repeats()); diff != "" {
		t.Errorf("%s: what came to the server (-want +got):\n%s", name, diff)
	}
	if ran := a.ran.Load(); ran != 0 {
		t.Errorf("%s: want nothing to run, got %d runs", name, ran)
	}
}

// Nothing that a client can send along takes the place of a person, whether it is
// made up or comes from another call, and what a person has approved for one
// principal no other gets to use, with the state of the first or without it.
// Revisions before the newest know neither states nor responses, and pass over
// both.
func TestT18_ClientsBringTheirOwn(t *testing.T) {
	t.Parallel()
	purge := call{Name: "purge", Arguments: map[string]any{"person": "approves"}}
	pending := outcome{IsError: true, Error: ambit.CodeApprovalPending}
	with := func(c call, state string, accepts bool) call {
		c.State, c.Accepts = state, accepts
		return c
	}
	for _, c := range clients {
		if c.curt || c.name == "mcp-go" {
			continue // it sends neither a state nor responses of ours
		}
		t.Run(c.name+"/"+cmp.Or(c.era, "default"), func(t *testing.T) {
			t.Parallel()
			a := newAsking(t, false)
			genuine := a.stateFor(t, purge)
			invalid := pending
			if c.version == modern {
				invalid = outcome{IsError: true, Error: ambit.CodeConfirmationInvalid}
			}
			elsewhere := call{Name: "purge", Arguments: map[string]any{"person": "is away"}}
			a.tries(t, "before a decision", c, a.target, []try{
				{with(purge, "", true), pending},
				{with(purge, genuine, true), pending},
				{with(purge, "approved", true), invalid},
				{with(purge, strings.Repeat("A", len(genuine)), true), invalid},
				{with(purge, "A"+genuine, true), invalid},
				{with(elsewhere, genuine, true), invalid},
			})
			a.decideAll(t)
			a.tries(t, "another principal", c, a.other, []try{
				{purge, pending},
				{with(purge, "", true), pending},
				{with(purge, genuine, false), invalid},
				{with(purge, genuine, true), invalid},
			})
			if diff := gocmp.Diff([]outcome{{Text: "deleted, run 1"}}, outcomes(t, c, a.target, purge)); diff != "" {
				t.Errorf("whose approval it is (-want +got):\n%s", diff)
			}
		})
	}
}
