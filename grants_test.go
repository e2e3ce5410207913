package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// newGranted is a world that takes standing grants.
func newGranted(t *testing.T, change func(*world), more ...ambit.AnyCapability) *world {
	t.Helper()
	return newWorld(func(w *world) {
		var err error
		if w.approvals, err = approval.New(w.store, approval.Options{Logger: quiet(), LongestGrant: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		w.options.Approver = w.approvals
		change(w)
	}, more...)
}

// grant lets carol allow calls of "change" with the text "a".
func (w *world) grant(t *testing.T, who *ambit.Principal, edits ...func(*approval.Grant)) approval.Grant {
	t.Helper()
	g := approval.Grant{
		Principal: who.Key(), Client: who.Client, Capability: "change", Input: json.RawMessage(`{"properties":{"text":{"const":"a"},"times":{"const":1}},"required":["times"]}`),
		Until: time.Now().Add(time.Hour), Budget: 5, Given: approval.Decision{Reason: "nightly"},
	}
	for _, edit := range edits {
		edit(&g)
	}
	given, err := w.approvals.Give(t.Context(), w.App, carol, g)
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func (w *world) used(t *testing.T, g approval.Grant, want int) {
	t.Helper()
	if kept, err := w.store.Grant(t.Context(), g.Tenant, g.ID); err != nil || kept.Used != want {
		t.Errorf("calls of the grant that are used: want %d, got %d, error %v", want, kept.Used, err)
	}
}

// Wherever a call can wait for a person, what is allowed in advance runs, and
// nothing else does.
func TestT20_EverySurfaceThatWaits(t *testing.T) {
	t.Parallel()
	for _, surface := range allSurfaces {
		if surface == ambit.WebMCP {
			continue // what needs a person cannot be exposed there
		}
		w := newGranted(t, func(w *world) {
			w.spec.Approval, w.spec.Expose = ambit.Human, ambit.HTTP|ambit.MCP|ambit.Assistant|ambit.Sandbox|ambit.Schedule
		})
		g := w.grant(t, writer)
		text, _ := w.call(writer, surface, ambit.Request{Input: []byte(`{"text":"b"}`)})
		is(t, surface.String()+": another input", `"approval_pending"`, text)
		text, _ = w.call(writer, surface, ambit.Request{Input: []byte(`{"text":"a","times":2}`)})
		is(t, surface.String()+": more than a default", `"approval_pending"`, text)
		text, _ = w.call(writer, surface, ambit.Request{})
		is(t, surface.String()+": what is allowed", `{"text":"a 1"}`, text)
		text, _ = w.call(writer, surface, ambit.Request{})
		is(t, surface.String()+": repeated", `{"text":"a 1"} replayed`, text)
		w.used(t, g, 1)
	}
}

// What an effect and a surface demand is allowed as what a capability demands is.
func TestT20_DestructiveByASchedule(t *testing.T) {
	t.Parallel()
	w := newGranted(t, func(w *world) { w.spec.Expose = ambit.HTTP | ambit.Schedule })
	w.grant(t, writer)
	text, _ := w.call(writer, ambit.Schedule, ambit.Request{})
	is(t, "by a schedule", `{"text":"a 1"}`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: "again"})
	is(t, "by a person, who confirms", `"confirmation_required"`, text)
}

// A monitor's doubt about a call takes somebody who is asked about that call: what
// was allowed before does not count, neither now nor any more.
func TestT20_DoubtsTakeAPerson(t *testing.T) {
	t.Parallel()
	doubted := true
	w := newGranted(t, func(w *world) {
		w.spec.Approval = ambit.Human
		w.options.Monitor = ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
			if doubted {
				return ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}, nil
			}
			return ambit.Verdict{}, nil
		})
	})
	g := w.grant(t, writer)
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "with a doubt", `"approval_pending"`, text)
	w.used(t, g, 0)
	doubted, w.err = false, &ambit.Error{Code: ambit.CodeUnavailable, Executed: ambit.ExecutedNo}
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "without one, and not made", `"unavailable"`, text)
	w.used(t, g, 1)
	doubted, w.err = true, nil
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "approved by then, with a doubt again", `"approval_pending"`, text)
	w.mustDecide(t, dave, approval.Approve, "")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "having been asked", `{"text":"a 2"}`, text) // the handler's second run
	w.used(t, g, 1)
}

// What came to wait for a person because of a doubt is not approved in advance when its
// caller, who only had to confirm it, asks again and there is no doubt.
func TestT20_DoubtsAboutWhatIsConfirmed(t *testing.T) {
	t.Parallel()
	doubted := true
	w := newGranted(t, func(w *world) {
		w.options.Monitor = ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
			if doubted {
				return ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}, nil
			}
			return ambit.Verdict{}, nil
		})
	})
	g := w.grant(t, writer) // which is for calls over MCP
	for _, doubted = range []bool{true, false} {
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
		is(t, "by a person over HTTP", `"approval_pending"`, text)
	}
	w.used(t, g, 0)
	text, _ := w.call(writer, ambit.MCP, ambit.Request{Input: []byte(`{"text":"a","times":1}`)})
	is(t, "over MCP, where it takes a person anyway", `{"text":"a 1"}`, text)
}

// Nobody grants what no call waits for, or in a process in which nobody decides.
func TestT20_NothingToGrant(t *testing.T) {
	t.Parallel()
	seals, _ := ambit.NewReviewKey()
	for name, test := range map[string]struct {
		capability string
		seals      bool
		want       ambit.Code
	}{
		"what waits":                   {"change", false, ""},
		"what its caller confirms":     {"harmless", false, ambit.CodeInvalidInput},
		"where nothing can be decided": {"change", true, ambit.CodeConfirmationUnavailable},
	} {
		w := newGranted(t, func(w *world) {
			if test.seals {
				var err error
				if w.options.ReviewKeys, err = ambit.ParseReviewKeys(seals); err != nil {
					t.Fatal(err)
				}
			}
		}, ambit.Define(writeSpec("harmless"), echo))
		_, err := w.approvals.Give(t.Context(), w.App, carol, approval.Grant{
			Principal: writer.Key(), Capability: test.capability, Input: json.RawMessage(`{}`), Until: time.Now().Add(time.Hour), Budget: 1, Given: approval.Decision{Reason: "x"},
		})
		if got := ambit.CodeOf(err); err != nil && got != test.want || err == nil && test.want != "" {
			t.Errorf("%s: want %q, got %v", name, test.want, err)
		}
	}
}

// What is allowed is allowed about what would change as it is now, and the handler
// is told of which version.
func TestT20_ChangedSince(t *testing.T) {
	t.Parallel()
	w := newGranted(t, func(w *world) { w.spec.Approval = ambit.Human })
	g := w.grant(t, writer)
	w.err = &ambit.Error{Code: ambit.CodeUnavailable, Executed: ambit.ExecutedNo}
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "approved and not made", `"unavailable"`, text)
	w.version, w.err = "2", nil
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "changed since", `"code":"conflict","message":"What this call would do has changed since it was allowed.","hint":"Make the call again, so that it is asked about as it is now."`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "approved anew", `{"text":"a 2"}`, text) // the handler's second run
	w.used(t, g, 2)
}

// A call that runs when its grant is revoked ends as it does, and where it gives its
// approval back there is none any more.
func TestT20_RevokedWhileItRuns(t *testing.T) {
	t.Parallel()
	w := newGranted(t, func(w *world) {
		w.spec.Approval = ambit.Human
		w.hold, w.err = make(chan struct{}), &ambit.Error{Code: ambit.CodeUnavailable, Executed: ambit.ExecutedNo}
	})
	g := w.grant(t, writer)
	answer := make(chan string)
	go func() {
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
		answer <- text
	}()
	for w.runs.Load() == 0 {
		runtime.Gosched()
	}
	if _, err := w.approvals.RevokeGrant(t.Context(), w.App, carol, g.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	close(w.hold)
	is(t, "the call that ran", `"unavailable"`, <-answer)
	w.err = nil
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "repeated", `"approval_pending"`, text)
	if n := w.runs.Load(); n != 1 {
		t.Errorf("want nothing run once the grant was revoked, got %d runs", n)
	}
}

// In the name of whom a handler calls is who has to be allowed, and whoever led to
// it stands behind them.
func TestT20_Delegation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level   ambit.Approval
		granter *ambit.Principal
		want    string
	}{
		{ambit.Human, carol, `{}`},
		{ambit.FourEyes, carol, `{}`},
		{ambit.FourEyes, writer, `"approval_pending"`},
	} {
		w := newNesting(test.level, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
			ctx, run := w.Delegate(ctx, ambit.RunOptions{Principal: service})
			defer run.End()
			return change(ctx, w, c)
		})
		var err error
		if w.approvals, err = approval.New(w.store, approval.Options{Logger: quiet(), LongestGrant: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		w.options.Approver = w.approvals
		w.restart()
		_, err = w.approvals.Give(t.Context(), w.App, test.granter, approval.Grant{
			Principal: service.Key(), Capability: "change", Input: json.RawMessage(`{}`), Until: time.Now().Add(time.Hour), Budget: 1, Given: approval.Decision{Reason: "x"},
		})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{Name: "outer", Input: []byte(`{}`)})
		is(t, test.level.String()+" by "+test.granter.Subject, test.want, text)
	}
}

// The terms are those that a call of the capability comes under.
func TestTerms(t *testing.T) {
	t.Parallel()
	harmless := writeSpec("harmless")
	w := newWorld(func(w *world) { w.spec.DecidePermission = "change:decide" }, ambit.Define(harmless, echo))
	for _, test := range []struct {
		capability string
		level      ambit.Approval
		permission string
	}{{"change", ambit.Human, "change:decide"}, {"harmless", ambit.Confirm, ambit.DefaultDecidePermission}} {
		terms, ok := w.Terms(test.capability)
		if !ok || terms.Level != test.level || terms.DecidePermission != test.permission || terms.Contract.Name() != test.capability || terms.Hash == (ambit.Digest{}) {
			t.Errorf("%s: want %s by %s, got %+v", test.capability, test.level, test.permission, terms)
		}
	}
	if _, ok := w.Terms("nothing"); ok {
		t.Error("want no terms of what is not there")
	}
	if _, ok := ambit.New(ambit.Options{}).Terms("nothing"); ok {
		t.Error("want no terms of an application that cannot be frozen")
	}
}

var errAway = errors.New("away")

// unable cannot look for grants.
type unable struct{ approval.Store }

func (unable) Grants(context.Context, approval.GrantFilter) ([]approval.Grant, string, error) {
	return nil, "", errAway
}

// Where nobody can tell what is allowed, the call waits for a person, and the operator
// is told why.
func TestT20_GrantsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newGranted(t, func(w *world) {
		var err error
		w.approvals, err = approval.New(unable{w.store}, approval.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), LongestGrant: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w.spec.Approval, w.options.Approver = ambit.Human, w.approvals
	})
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "the store is away", `"approval_pending"`, text)
	is(t, "the log", "standing grants cannot be read or used, so the call waits", log.String())
	is(t, "the log", errAway.Error(), log.String())
	if w.runs.Load() != 0 {
		t.Errorf("want no run, got %d", w.runs.Load())
	}
}
