package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/exchangetest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/approval"
)

// approving is an application whose capabilities need somebody's word.
type approving struct {
	*ambit.App
	store     *memory.Store
	approvals *approval.Approvals
}

func newApproving(t testing.TB) *approving {
	t.Helper()
	a := &approving{store: memory.New()}
	var err error
	if a.approvals, err = approval.New(a.store, approval.Options{URL: "https://app.example/approvals", Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}); err != nil {
		t.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	preview := func(_ context.Context, in searchInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete what is found by " + in.Query, Version: "7"}, nil
	}
	a.App = fixture(ambit.Options{Approver: a.approvals, Keys: keys})
	a.Add(
		ambit.Define(spec("notes.empty", ambit.Destructive, "notes:write"), func(ctx context.Context, in searchInput) (textOutput, error) {
			return textOutput{Text: "deleted " + in.Query + ", version " + ambit.FromContext(ctx).Approval().Version}, nil
		}).WithPreview(preview),
		ambit.Define(with(spec("notes.publish", ambit.External, "notes:write"), func(s *ambit.Spec) { s.Approval = ambit.Human }),
			func(_ context.Context, in searchInput) (textOutput, error) {
				return textOutput{Text: "published " + in.Query}, nil
			}),
		ambit.Define(with(spec("notes.share", ambit.Write, "notes:write"), func(s *ambit.Spec) { s.Replay = ambit.ReplayReceipt }),
			func(_ context.Context, in searchInput) (textOutput, error) {
				if in.Query == "fails" {
					return textOutput{}, errors.New("the link cannot be made")
				}
				return textOutput{Text: "a link to be seen once"}, nil
			}),
	)
	return a
}

// decide lets a person say something about the newest proposal.
func (a *approving) decide(t testing.TB, verdict approval.Verdict, reason string) {
	t.Helper()
	carol := &ambit.Principal{Authority: "people", Subject: "carol", Permissions: []string{ambit.DefaultDecidePermission}}
	page, _, err := a.store.List(t.Context(), approval.Filter{})
	if err != nil || len(page) == 0 {
		t.Fatalf("want a proposal, got %d, %v", len(page), err)
	}
	if _, err := a.approvals.Decide(t.Context(), a.App, carol, approval.Ruling{ID: page[0].ID, Verdict: verdict, Reason: reason}); err != nil {
		t.Fatal(err)
	}
}

// TestApprovals goes through testdata/approvals.txtar from top to bottom: requests
// and answers, what a person decides in between, and how much time passes. TOKEN in a
// request is the token that was given out last.
func TestApprovals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		app := newApproving(t)
		client().Play(t, "testdata/approvals.txtar", exchangetest.Script{
			Handler: newAPI(t, app.App, withPeople()),
			Blanks: []exchangetest.Blank{
				{Found: regexp.MustCompile(`"token":"([^"]+)"`), Name: "TOKEN", Returned: true},
				{Found: regexp.MustCompile(`[A-Z2-7]{26}`), Name: "ID"},
				{Found: regexp.MustCompile(`(?:call|run)\\*":\\*"([a-z0-9]+)`), Name: "ID"}, // of a receipt
				{Found: regexp.MustCompile(`Content-Length: ([0-9]+)(?s:.*)receipt`), Name: "N"},
			},
			Steps: map[string]func(string){
				"approve": func(reason string) { app.decide(t, approval.Approve, reason) },
				"deny":    func(reason string) { app.decide(t, approval.Deny, reason) },
			},
		})
	})
}

// An API on which nobody could ask for what its capabilities need is not served.
func TestT13_NobodyToAsk(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(newApproving(t).App, httpapi.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err == nil || !strings.Contains(err.Error(), `capability "notes.publish" takes the approval of a person on http (human)`) {
		t.Errorf("want the capability and the cure, got %v", err)
	}
}
