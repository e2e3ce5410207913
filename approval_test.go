package ambit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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

var _ = fmt.Sprint
