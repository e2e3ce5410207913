package mcp_test

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
	"github.com/ambit-dev/ambit/surface/mcp"
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
	a.App = fixture(ambit.Options{Approver: a.approvals, Keys: keys, DestructiveOverMCP: true})
	a.Add(
		ambit.Define(spec("notes.empty", ambit.Destructive, "notes:write"), func(_ context.Context, in searchInput) (textOutput, error) {
			return textOutput{Text: "deleted " + in.Query}, nil
		}),
		ambit.Define(with(spec("notes.publish", ambit.Write, "notes:write"), func(s *ambit.Spec) { s.Approval = ambit.Confirm }),
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

// What differs from run to run is put into its place: TOKEN and STATE in a request
// are those that were given out last.
var (
	token = regexp.MustCompile(`(token\\*":\\*")([A-Za-z0-9_-]+)`)
	given = regexp.MustCompile(`("requestState":")([A-Za-z0-9_-]+)`)
	id    = regexp.MustCompile(`[A-Z2-7]{26}`)
)

// TestApprovals goes through testdata/approvals.txtar from top to bottom: requests
// and answers, what a person decides in between, and how much time passes. META in
// a body stands for the _meta of revision 2026-07-28, ELICITS for that of a client
// which can show an address.
func TestApprovals(t *testing.T) {
	t.Parallel()
	const file = "testdata/approvals.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	synctest.Test(t, func(t *testing.T) {
		app, lastToken, lastState := newApproving(t), "", ""
		o := withPeople()
		o.ElicitURLs = true
		server := newServer(t, app.App, o)
		var files []txtar.File
		for _, part := range archive.Files {
			name, kind, _ := strings.Cut(part.Name, ": ")
			text := strings.TrimSpace(string(part.Data))
			switch kind {
			case "request":
				text = strings.NewReplacer("TOKEN", lastToken, "STATE", lastState, "ELICITS", elicits).Replace(string(part.Data))
				got := answer(t, server, []byte(text))
				if found := token.FindStringSubmatch(got); found != nil {
					lastToken = found[2]
				}
				if found := given.FindStringSubmatch(got); found != nil {
					lastState = found[2]
				}
				got = id.ReplaceAllString(given.ReplaceAllString(token.ReplaceAllString(got, "${1}TOKEN"), "${1}STATE"), "ID")
				files = append(files, part, txtar.File{Name: name + ": answer", Data: []byte(got)})
			case "approve":
				app.decide(t, approval.Approve, text)
				files = append(files, part)
			case "deny":
				app.decide(t, approval.Deny, text)
				files = append(files, part)
			case "revoke":
				app.decide(t, approval.Revoke, text)
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

const elicits = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}`

// A server on which nobody could ask for what its tools need is not served, unless
// its callers are known otherwise.
func TestT13_NobodyToAsk(t *testing.T) {
	t.Parallel()
	app := newApproving(t)
	open := trust.Options{AllowUnauthenticated: true}
	_, err := mcp.New(app.App, mcp.Options{Trust: open})
	if err == nil || !strings.Contains(err.Error(), `capability "notes.empty" takes the approval of a person on mcp (human)`) {
		t.Errorf("want the capability and the cure, got %v", err)
	}
	server := newServer(t, app.App, mcp.Options{Trust: open, SessionsOnly: true})
	if got := answer(t, server, []byte("POST /mcp\n\n{}")); !strings.HasPrefix(got, "404") {
		t.Errorf("over HTTP: want 404, got %s", got)
	}
	if _, err := mcp.New(fixture(ambit.Options{}), mcp.Options{ElicitURLs: true}); err == nil || !strings.Contains(err.Error(), "needs ambit.Options.Keys") {
		t.Errorf("without keys: want the cure, got %v", err)
	}
}
