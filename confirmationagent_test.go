package ambit_test

import (
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// TestT14_ConfirmationIsBoundToAgents holds that what one agent has prepared no
// other can confirm, and neither can who comes without one.
func TestT14_ConfirmationIsBoundToAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.spec.Effect, w.spec.Approval = ambit.External, ambit.Confirm })
	mine := ambit.AgentIdentity{URL: "https://agent.example", Key: "k1", Level: ambit.AgentOnce}
	call := func(agent ambit.AgentIdentity, confirmation string) (string, *ambit.Error) {
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Surface: ambit.HTTP, Agent: agent})
		defer run.End()
		result, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`), Confirmation: confirmation})
		if err != nil {
			return "", failure(t, err)
		}
		return string(result.Output), nil
	}
	_, asked := call(mine, "")
	if asked == nil || asked.Approval == nil || asked.Approval.Token == "" {
		t.Fatalf("want a confirmation to be asked for, got %v", asked)
	}
	for name, other := range map[string]ambit.AgentIdentity{
		"none": {}, "another key": {URL: mine.URL, Key: "k2", Level: ambit.AgentOnce}, "another agent": {URL: "https://other.example", Key: "k1", Level: ambit.AgentOnce},
	} {
		if _, e := call(other, asked.Approval.Token); e == nil || e.Code != ambit.CodeConfirmationInvalid {
			t.Errorf("%s: want confirmation_invalid, got %v", name, e)
		}
	}
	if got, e := call(mine, asked.Approval.Token); got != `{"text":"a 1"}` {
		t.Errorf("the same agent: want it to run, got %q and %v", got, e)
	}
}

// TestT14_OneProposalWhateverTheAgentsKey holds that an agent which changes keys
// finds what was approved, and that two keys do not make two calls of one.
func TestT14_OneProposalWhateverTheAgentsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.spec.Approval = ambit.Human })
	call := func(key string) (string, *ambit.Error) {
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{
			Principal: writer, Surface: ambit.HTTP, Agent: ambit.AgentIdentity{URL: "https://agent.example", Key: key, Level: ambit.AgentOnce},
		})
		defer run.End()
		result, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)})
		if err != nil {
			return "", failure(t, err)
		}
		return string(result.Output), nil
	}
	_, first := call("k1")
	_, second := call("k2")
	if first == nil || second == nil || first.Approval == nil || second.Approval == nil || first.Approval.ID != second.Approval.ID {
		t.Fatalf("want one proposal, got %v and %v", first, second)
	}
	w.mustDecide(t, carol, approval.Approve, "")
	for _, key := range []string{"k2", "k1"} {
		if got, e := call(key); got != `{"text":"a 1"}` {
			t.Errorf("%s: want the one run's output, got %q and %v", key, got, e)
		}
	}
	if got := w.runs.Load(); got != 1 {
		t.Errorf("want one run, got %d", got)
	}
}

// TestT18_AgentsDoNotConfirmForThemselves holds that over HTTP, too, a person
// decides about what an agent would destroy, whichever way it is told to be one
// and whatever the capability says.
func TestT18_AgentsDoNotConfirmForThemselves(t *testing.T) {
	t.Parallel()
	robot := *writer
	robot.Kind = ambit.KindAgent
	bot := ambit.AgentIdentity{URL: "https://agent.example", Key: "k1", Level: ambit.AgentOnce}
	for _, tt := range []struct {
		name     string
		who      *ambit.Principal
		agent    ambit.AgentIdentity
		surface  ambit.Surface
		approval ambit.Approval
		effect   ambit.Effect
		want     ambit.Code
	}{
		{"a user", writer, ambit.AgentIdentity{}, ambit.HTTP, ambit.ApprovalUnset, ambit.Destructive, ambit.CodeConfirmationRequired},
		{"a principal of kind agent", &robot, ambit.AgentIdentity{}, ambit.HTTP, ambit.ApprovalUnset, ambit.Destructive, ambit.CodeApprovalPending},
		{"a user whose request an agent carries", writer, bot, ambit.HTTP, ambit.ApprovalUnset, ambit.Destructive, ambit.CodeApprovalPending},
		{"where the capability asks for less", &robot, bot, ambit.HTTP, ambit.Confirm, ambit.Destructive, ambit.CodeApprovalPending},
		{"where the capability asks for less, over MCP", writer, ambit.AgentIdentity{}, ambit.MCP, ambit.Confirm, ambit.Destructive, ambit.CodeApprovalPending},
		{"what destroys nothing", &robot, bot, ambit.HTTP, ambit.Confirm, ambit.External, ambit.CodeConfirmationRequired},
	} {
		w := newWorld(func(w *world) { w.spec.Effect, w.spec.Approval = tt.effect, tt.approval })
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: tt.who, Surface: tt.surface, Agent: tt.agent})
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)})
		run.End()
		if got := ambit.CodeOf(err); got != tt.want || w.runs.Load() != 0 {
			t.Errorf("%s: want %s and no run, got %v and %d", tt.name, tt.want, err, w.runs.Load())
		}
	}
}
