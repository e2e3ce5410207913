package httpapi_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ambit-dev/ambit"
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
	if a.approvals, err = approval.New(a.store, approval.Options{URL: "https://app.example/approvals"}); err != nil {
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

// What differs from run to run is put into its place: TOKEN in a request is the
// token that was given out last.
var (
	token = regexp.MustCompile(`"token":"([^"]+)"`)
	id    = regexp.MustCompile(`[A-Z2-7]{26}`)
)

// TestApprovals goes through testdata/approvals.txtar from top to bottom: requests
// and answers, what a person decides in between, and how much time passes.
func TestApprovals(t *testing.T) {
	t.Parallel()
	const file = "testdata/approvals.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	synctest.Test(t, func(t *testing.T) {
		app, last := newApproving(t), ""
		api := newAPI(t, app.App, withPeople())
		var files []txtar.File
		for _, part := range archive.Files {
			name, kind, _ := strings.Cut(part.Name, ": ")
			text := strings.TrimSpace(string(part.Data))
			switch kind {
			case "request":
				got := answer(t, api, []byte(strings.ReplaceAll(string(part.Data), "TOKEN", last)))
				if given := token.FindStringSubmatch(got); given != nil {
					last = given[1]
				}
				got = id.ReplaceAllString(token.ReplaceAllString(got, `"token":"TOKEN"`), "ID")
				files = append(files, part, txtar.File{Name: name + ": answer", Data: []byte(got)})
			case "approve":
				app.decide(t, approval.Approve, text)
				files = append(files, part)
			case "deny":
				app.decide(t, approval.Deny, text)
				files = append(files, part)
			case "wait":
				pause, err := time.ParseDuration(text)
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(pause)
				files = append(files, part)
			}
		}
		archive.Files = files
	})
	got := string(txtar.Format(archive))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got, rewrite with -update):\n%s", file, diff)
	}
}

// An API on which nobody could ask for what its capabilities need is not served.
func TestT13_NobodyToAsk(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(newApproving(t).App, httpapi.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err == nil || !strings.Contains(err.Error(), `capability "notes.publish" takes the approval of a person on http (human)`) {
		t.Errorf("want the capability and the cure, got %v", err)
	}
}
