package ambit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

func newApprovals(store approval.Store) *approval.Approvals {
	approvals, err := approval.New(store, approval.Options{Logger: quiet(), URL: "https://app.example/approvals"})
	if err != nil {
		panic(err)
	}
	return approvals
}

var (
	carol = &ambit.Principal{Authority: "test", Subject: "carol", Permissions: []string{"approvals:decide"}, Unscoped: true}
	dave  = &ambit.Principal{Authority: "test", Subject: "dave", Permissions: []string{"approvals:decide"}, Unscoped: true}
)

// world is an application with approvals whose capability "change" can be
// steered.
type world struct {
	*ambit.App
	*counted
	store     *storage.Store
	approvals *approval.Approvals
	keys      *ambit.KeyRing
	options   ambit.Options
	spec      ambit.Spec
	more      []ambit.AnyCapability

	version string // in the preview
	unshown error  // of the preview
}

// newWorld makes it: change says how the spec and the options differ from a
// destructive capability over HTTP.
func newWorld(change func(*world), more ...ambit.AnyCapability) *world {
	w := &world{counted: &counted{}, store: storage.New(), keys: newRing(), version: "1", more: more}
	w.approvals = newApprovals(w.store)
	w.spec = writeSpec("change")
	w.spec.Effect = ambit.Destructive
	w.options = ambit.Options{Keys: w.keys, Approver: w.approvals, DestructiveOverMCP: true}
	if change != nil {
		change(w)
	}
	w.restart()
	return w
}

// restart makes the application anew, over the same store.
func (w *world) restart() {
	w.App = newApp(w.options, append(w.more, ambit.Define(w.spec, w.run).WithPreview(func(_ context.Context, in echoInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Change " + in.Text, Version: w.version}, w.unshown
	}))...)
}

// call makes one call of "change" and returns its output, or its error as JSON
// with what is random in it taken out.
func (w *world) call(who *ambit.Principal, surface ambit.Surface, request ambit.Request) (text string, failure *ambit.Error) {
	if request.Name == "" {
		request.Name = "change"
	}
	if request.Input == nil {
		request.Input = []byte(`{"text":"a"}`)
	}
	ctx, run := w.NewRun(context.Background(), ambit.RunOptions{Principal: who, Surface: surface})
	defer run.End()
	result, err := run.Invoke(ctx, request)
	if err == nil {
		text = string(result.Output)
		if result.Replayed {
			text += " replayed"
		}
		return text, nil
	}
	failure = ambit.ErrorFrom(err, ambit.ErrorOptions{})
	if text = wireOf(failure); failure.Replayed() {
		text += " replayed"
	}
	return text, failure
}

// wireOf is the error as surfaces send it, without what is random in it.
func wireOf(failure *ambit.Error) string {
	shown := *failure
	if shown.Approval != nil {
		awaited := *shown.Approval
		if awaited.Token != "" {
			awaited.Token = "TOKEN"
		}
		awaited.URL = strings.Replace(awaited.URL, awaited.ID, "ID", 1)
		awaited.ID = "ID"
		shown.Approval = &awaited
	}
	text, err := json.Marshal(&shown)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// decide lets a person say something about the newest proposal.
func (w *world) decide(t testing.TB, who *ambit.Principal, verdict approval.Verdict, reason string) error {
	t.Helper()
	page, _, err := w.store.List(t.Context(), approval.Filter{Tenant: who.Tenant})
	if err != nil || len(page) == 0 {
		t.Fatalf("want a proposal, got %d, %v", len(page), err)
	}
	view, err := w.approvals.View(t.Context(), w.App, who, page[0].ID)
	if err != nil {
		return err
	}
	_, err = w.approvals.Decide(t.Context(), w.App, who, approval.Ruling{ID: page[0].ID, Verdict: verdict, Reason: reason, Preview: view.Seen()})
	return err
}

func (w *world) mustDecide(t testing.TB, who *ambit.Principal, verdict approval.Verdict, reason string) {
	t.Helper()
	if err := w.decide(t, who, verdict, reason); err != nil {
		t.Fatalf("%s: %v", verdict, err)
	}
}

// prepare makes a call that has to be confirmed, and returns the token.
func (w *world) prepare(t testing.TB, who *ambit.Principal, request ambit.Request) string {
	t.Helper()
	text, failure := w.call(who, ambit.HTTP, request)
	if failure == nil || failure.Code != ambit.CodeConfirmationRequired || failure.Approval == nil {
		t.Fatalf("want confirmation_required, got %s", text)
	}
	return failure.Approval.Token
}

// is reports whether a call came to what was wanted: a part of its output, or
// the code of its error.
func is(t testing.TB, what, want, got string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: want %s, got %s", what, want, got)
	}
}

// What every surface is told, from the first asking to the repetition, for each
// level and each end that a proposal can come to.
func TestApprovalAnswers(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for _, surface := range []ambit.Surface{ambit.HTTP, ambit.MCP, ambit.CommandLine, ambit.InProcess, ambit.Assistant} {
		for _, level := range []ambit.Approval{ambit.Confirm, ambit.Human} {
			synctest.Test(t, func(t *testing.T) {
				say := func(step string, request ambit.Request, w *world) *ambit.Error {
					text, failure := w.call(writer, surface, request)
					fmt.Fprintf(&texts, "%s, %s, %s: %s\n", surface, level, step, text)
					return failure
				}
				fresh := func() *world {
					return newWorld(func(w *world) {
						w.spec.Approval, w.spec.Effect, w.spec.Expose = level, ambit.External, ambit.HTTP|ambit.MCP|ambit.Assistant
					})
				}
				w := fresh()
				failure := say("asked", ambit.Request{}, w)
				switch {
				case surface != ambit.HTTP: // the rest reads the same everywhere
					return
				case level == ambit.Confirm:
					token := failure.Approval.Token
					say("confirmed", ambit.Request{Confirmation: token}, w)
					say("confirmed again", ambit.Request{Confirmation: token}, w)
					say("confirmed for another input", ambit.Request{Confirmation: token, Input: []byte(`{"text":"b"}`)}, w)
					say("made up", ambit.Request{Confirmation: "c2VjcmV0"}, w)
					token = w.prepare(t, writer, ambit.Request{})
					<-time.After(ambit.DefaultConfirmWithin)
					say("confirmed too late", ambit.Request{Confirmation: token}, w)
					return
				}
				say("asked again", ambit.Request{}, w)
				w.mustDecide(t, carol, approval.Approve, "")
				say("approved", ambit.Request{}, w)
				say("approved, again", ambit.Request{}, w)
				w = fresh()
				say("asked", ambit.Request{}, w)
				w.mustDecide(t, carol, approval.Deny, "not this week")
				say("denied", ambit.Request{}, w)
				w = fresh()
				say("asked", ambit.Request{}, w)
				w.mustDecide(t, carol, approval.Approve, "")
				w.mustDecide(t, carol, approval.Revoke, "on second thoughts")
				say("revoked", ambit.Request{}, w)
				w = fresh()
				say("asked", ambit.Request{}, w)
				<-time.After(ambit.DefaultDecideWithin)
				say("never decided", ambit.Request{}, w)
				w.mustDecide(t, carol, approval.Approve, "")
				<-time.After(ambit.DefaultExecuteWithin)
				say("never used", ambit.Request{}, w)
				w = fresh()
				say("asked", ambit.Request{}, w)
				w.mustDecide(t, carol, approval.Approve, "")
				w.hold = make(chan struct{})
				go w.call(writer, surface, ambit.Request{})
				synctest.Wait()
				say("while it runs", ambit.Request{}, w)
				<-time.After(ambit.DefaultDeadline + time.Minute)
				say("long after", ambit.Request{}, w)
				close(w.hold)
				synctest.Wait()
				say("when it has ended after all", ambit.Request{}, w)
			})
		}
	}
	golden(t, "approvals.txt", texts.String())
}
