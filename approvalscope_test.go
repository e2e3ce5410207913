package ambit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Nobody could be shown what a capability of one run would do, so that none of
// them waits for a person.
func TestT16_CapabilitiesOfOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.options.Monitor = doubts })
	human := writeSpec("own")
	human.Approval = ambit.Human
	_, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Capabilities: []ambit.AnyCapability{ambit.Define(human, echo)}})
	if got := ambit.CodeOf(run.Err()); got != ambit.CodeInternal {
		t.Errorf("one that takes a person: want the run refused, got %v", run.Err())
	}
	ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Surface: ambit.HTTP, Capabilities: []ambit.AnyCapability{ambit.Define(writeSpec("own"), echo)}})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: "own", Input: []byte(`{"text":"a"}`)})
	if got := ambit.CodeOf(err); got != ambit.CodeConfirmationUnavailable {
		t.Errorf("one that a monitor has doubts about: want confirmation_unavailable, got %v", err)
	}
}

// A read that failed had no effect: what allowed it allows it again.
func TestT17_FailedReadsAreGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) {
		w.spec.Effect, w.spec.Approval, w.err = ambit.Read, ambit.Human, errors.New("the disk is full")
	})
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "failed", `"upstream"`, text)
	w.err = nil
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "again", `{"text":"a 2"}`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "and once more", `{"text":"a 2"} replayed`, text)
}

// What stands still for a person stands still here too: nothing is held by a call
// that waits, because it does not wait in the process.
func TestT17_WaitingHoldsNothing(t *testing.T) {
	t.Parallel()
	calls := &ledgerCalls{}
	w := newWorld(func(w *world) {
		calls.Ledger = w.store
		w.spec.Approval, w.options.Ledger = ambit.Human, unwrapping{calls, w.store}
		w.options.Limits.InFlight = 1
	})
	for range 3 {
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
		is(t, "asked", `"approval_pending"`, text)
	}
	if slots, bytes := ambit.AtWork(w.App); slots != 0 || bytes != 0 || calls.String() != "" {
		t.Errorf("want no slot, no bytes and nothing claimed, got %d, %d and %q", slots, bytes, calls.String())
	}
}

// Whatever changes while a person decides is seen before the call runs.
func TestT03_DecisionsAreUsedByThePrincipalOfNow(t *testing.T) {
	t.Parallel()
	fired, allowed := false, true
	w := newWorld(func(w *world) {
		w.spec.Approval = ambit.Human
		w.options.Resolve = func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			if fired && p.Subject == writer.Subject {
				return nil, nil //nolint:nilnil // that is how it is said
			}
			return p, nil
		}
		w.options.Authorize = func(context.Context, ambit.AnyContract, *ambit.Principal) string {
			if allowed {
				return ""
			}
			return "Not today."
		}
	})
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	allowed = false
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "no longer allowed", `"Not today."`, text)
	allowed, fired = true, true
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "no longer there", `"unauthenticated"`, text)
	fired = false
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "there again", `{"text":"a 1"}`, text)
}

// The operator is told where nothing goes on record.
func TestT22_NoticeWithoutARecord(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.Effect = ambit.Execute
	if got := newApp(ambit.Options{}, ambit.Define(spec, echo)).Notices(); len(got) != 1 || !strings.Contains(got[0], "no audit record is kept") {
		t.Errorf("want the notice, got %q", got)
	}
	if got := newApp(ambit.Options{Ledger: &diary{Ledger: storage.New()}}, ambit.Define(spec, echo)).Notices(); len(got) != 0 {
		t.Errorf("with a record: want no notice, got %q", got)
	}
}

// The operator is told, in one line, of what destroys and shows nobody what.
func TestNoticeWithoutAPreview(t *testing.T) {
	t.Parallel()
	define := func(name string, effect ambit.Effect) ambit.Capability[echoInput, echoOutput] {
		spec := echoSpec()
		spec.Name, spec.Effect, spec.Expose = name, effect, ambit.HTTP
		return ambit.Define(spec, echo)
	}
	seen := define("seen", ambit.Destructive).WithPreview(func(context.Context, echoInput) (ambit.Preview, error) { return ambit.Preview{Summary: "Less"}, nil })
	app := newApp(ambit.Options{Ledger: &diary{Ledger: storage.New()}}, define("sent", ambit.External), define("purge", ambit.Destructive), seen, define("wipe", ambit.Destructive))
	want := []string{"whoever confirms or decides about a call of purge, wipe is shown its input and not what it would destroy: add WithPreview to the capability"}
	if diff := cmp.Diff(want, app.Notices()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := newApp(ambit.Options{Ledger: &diary{Ledger: storage.New()}}, define("sent", ambit.External), seen).Notices(); len(got) != 0 {
		t.Errorf("with a preview: want no notice, got %q", got)
	}
}

// What was approved is what the handler gets, and nothing beside it, whatever the
// caller's Go value holds.
func TestT15_ApprovedInput(t *testing.T) {
	t.Parallel()
	var got transferInput
	spec := writeSpec("transfer")
	spec.Approval = ambit.Human
	transfer := ambit.NewContract[transferInput, ambit.Empty](spec)
	w := newWorld(nil, transfer.Bind(func(_ context.Context, in transferInput) (ambit.Empty, error) { got = in; return ambit.Empty{}, nil }))
	ctx, _ := begin(t, w.App, writer, ambit.InProcess)
	in := transferInput{Amount: 2, Note: []byte(`{ "b": 1.0, "a": "\u0041" }`), hidden: "not of the contract"}
	if _, err := transfer.Call(ctx, in); ambit.CodeOf(err) != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %v", err)
	}
	w.mustDecide(t, carol, approval.Approve, "")
	if _, err := transfer.Call(ctx, in); err != nil {
		t.Fatal(err)
	}
	want := transferInput{To: "savings", Amount: 2, Note: []byte(`{"a":"A","b":1}`)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(transferInput{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Note = []byte(`{"id":9007199254740993}`)
	if _, err := transfer.Call(ctx, in); ambit.CodeOf(err) != ambit.CodeInvalidInput {
		t.Errorf("a number that the form would change: want invalid_input, and nobody asked, got %v", err)
	}
}

// Whose word a call ran by is in its event, and in no other's.
func TestT13_EventsSayWhoseWord(t *testing.T) {
	t.Parallel()
	seen := &records{}
	w := newWorld(func(w *world) { w.options.Observers, w.spec.Effect = []ambit.Observer{seen}, ambit.External })
	yes := ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) { return ambit.AllowSession, nil })
	for i, test := range []struct {
		mode ambit.Mode
		want ambit.Approval
	}{{ambit.ModeAuto, ambit.ApprovalUnset}, {ambit.ModeDefault, ambit.Confirm}} {
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Mode: test.mode, Prompter: yes})
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)})
		run.End()
		if e := seen.last(t); err != nil || e.Level != test.want || e.InFlight != 1 {
			t.Errorf("call %d: want the level %s, got %s, %v", i, test.want, e.Level, err)
		}
	}
	w.spec.Approval = ambit.Human
	w.restart()
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	if e := seen.last(t); e.Level != ambit.ApprovalUnset || e.Proposal == "" || e.InFlight != 0 || e.Ran {
		t.Errorf("want a proposal and nobody's word, got %+v", e)
	}
	w.mustDecide(t, carol, approval.Approve, "")
	for _, level := range []ambit.Approval{ambit.Human, ambit.ApprovalUnset} {
		_, _ = w.call(writer, ambit.HTTP, ambit.Request{})
		if e := seen.last(t); e.Level != level || e.Proposal == "" || e.Replayed != (level == ambit.ApprovalUnset) {
			t.Errorf("want the level %s, got %+v", level, e)
		}
	}
}

// A handler has no say about proposals, and an approver only about the call that
// it was asked about.
func TestT18_NobodyMakesUpAProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) {
		w.spec.Effect = ambit.Write
		made := ambit.Errorf(ambit.CodeConflict, "Not now.")
		made.Approval = &ambit.Awaited{ID: "forged", Token: "forged"}
		w.err = made
	})
	text, failure := w.call(writer, ambit.HTTP, ambit.Request{})
	if failure == nil || failure.Code != ambit.CodeConflict || failure.Approval != nil {
		t.Errorf("by a handler: want a conflict without a proposal, got %s", text)
	}
	w = newWorld(func(w *world) { w.spec.Approval, w.options.Approver = ambit.Human, astray{w.approvals} })
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "by an approver", `"unavailable"`, text)
	if w.runs.Load() != 0 {
		t.Error("want no run")
	}
}

// astray approves of something else.
type astray struct{ *approval.Approvals }

func (astray) Propose(context.Context, ambit.Proposal, ambit.Inquiry) (ambit.Standing, error) {
	return ambit.Standing{ID: "other", State: ambit.ProposalApproved, Level: ambit.FourEyes}, nil
}

// TestT13_NoticeOfDecidersNobodyLooksUp holds that the operator is told where a
// decider's permission is remembered rather than looked up.
func TestT13_NoticeOfDecidersNobodyLooksUp(t *testing.T) {
	t.Parallel()
	told := func(change func(*ambit.Options)) bool {
		w := newWorld(func(w *world) { change(&w.options) })
		return slices.ContainsFunc(w.Notices(), func(n string) bool { return strings.Contains(n, "set Options.Resolve") })
	}
	if !told(func(*ambit.Options) {}) {
		t.Error("nothing looks deciders up: want a notice")
	}
	if told(func(o *ambit.Options) {
		o.Resolve = func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) { return p, nil }
	}) {
		t.Error("deciders are resolved: want no notice")
	}
}
