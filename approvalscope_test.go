package ambit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
