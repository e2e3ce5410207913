package interop_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ambit-dev/ambit"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
)

// wish is an input that says what a person will make of the call.
type wish struct {
	Person string `json:"person" enum:"approves,denies,takes it back,is away"`
}

// asking is a server whose one tool takes the decision of a person, who decides
// as the input says once the address is visited.
type asking struct {
	target
	app       *ambit.App
	store     *memory.Store
	approvals *approval.Approvals
	// other is the same server for another principal, who may do as much.
	other target
	ran   atomic.Int64

	mu      sync.Mutex
	visited func(ctx context.Context, id string) error
	sent    []repeat
}

// repeat is what a call may have beside its arguments once a person was asked.
type repeat struct {
	State     string              `json:"requestState"`
	Responses map[string]response `json:"inputResponses"`
}

// response is what a client says of a question.
type response struct {
	Action string `json:"action"`
}

func newAsking(t *testing.T, shows bool) *asking {
	t.Helper()
	a := &asking{store: memory.New()}
	a.visited = a.decide
	mux := http.NewServeMux()
	endpoint := httptest.NewUnstartedServer(mux)
	t.Cleanup(endpoint.Close)
	address := "http://" + endpoint.Listener.Addr().String()
	var err error
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	if a.approvals, err = approval.New(a.store, approval.Options{URL: address + "/approvals", Logger: logger}); err != nil {
		t.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	a.app = ambit.New(ambit.Options{
		Name: "asking", Keys: keys, Approver: a.approvals, DestructiveOverMCP: true, Logger: logger,
	})
	a.app.Add(ambit.Define(ambit.Spec{
		Name: "purge", Description: "Delete everything.", Effect: ambit.Destructive, Permission: "purge", Expose: ambit.MCP,
	}, func(context.Context, wish) (string, error) {
		return fmt.Sprint("deleted, run ", a.ran.Add(1)), nil
	}))
	agent := func(name string) apikey.Key {
		return apikey.Key{Name: name, Secret: apikey.Generate(), Principal: &ambit.Principal{
			Subject: name, Kind: ambit.KindAgent, Permissions: []string{"purge"}, Unscoped: true,
		}}
	}
	one, other := agent("agent"), agent("other")
	people, err := apikey.New(one, other)
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcp.New(a.app, mcp.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{people}}, ElicitURLs: true})
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a request: %v", err)
		}
		var sent struct{ Params repeat }
		if json.Unmarshal(body, &sent) == nil && (sent.Params.State != "" || sent.Params.Responses != nil) {
			a.mu.Lock()
			a.sent = append(a.sent, sent.Params)
			a.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	})
	mux.HandleFunc("/approvals/{id}", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		visited := a.visited
		a.mu.Unlock()
		if err := visited(r.Context(), r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	endpoint.Start()
	a.target = target{URL: endpoint.URL + "/mcp", Token: one.Secret, Shows: shows}
	a.other = target{URL: a.URL, Token: other.Secret}
	return a
}

// onVisit sets what a visit to the address of a proposal does. At first that is
// decide.
func (a *asking) onVisit(visited func(ctx context.Context, id string) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.visited = visited
}

// repeats returns the calls that came with a state or with responses since it was
// last asked, in order.
func (a *asking) repeats() []repeat {
	a.mu.Lock()
	defer a.mu.Unlock()
	sent := a.sent
	a.sent = nil
	return sent
}

// decide is the person.
func (a *asking) decide(ctx context.Context, id string) error {
	person := &ambit.Principal{Authority: "test", Subject: "person", Permissions: []string{ambit.DefaultDecidePermission}}
	view, err := a.approvals.View(ctx, a.app, person, id)
	if err != nil {
		return err
	}
	var in wish
	if err := json.Unmarshal(view.Review.Input, &in); err != nil {
		return err
	}
	for _, verdict := range map[string][]approval.Verdict{
		"approves": {approval.Approve}, "denies": {approval.Deny}, "takes it back": {approval.Approve, approval.Revoke},
	}[in.Person] {
		if _, err := a.approvals.Decide(ctx, a.app, person, approval.Ruling{ID: id, Verdict: verdict, Preview: view.Seen()}); err != nil {
			return err
		}
	}
	return nil
}

// in returns the IDs of the proposals in a state.
func (a *asking) in(t *testing.T, state ambit.ProposalState) (ids []string) {
	t.Helper()
	page, _, err := a.store.List(t.Context(), approval.Filter{States: []ambit.ProposalState{state}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page {
		ids = append(ids, r.ID)
	}
	return ids
}

// decideAll has the person decide whatever waits.
func (a *asking) decideAll(t *testing.T) {
	t.Helper()
	for _, id := range a.in(t, ambit.ProposalPending) {
		if err := a.decide(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// visit goes to an address, as a person would whom a client shows it.
func visit(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	answer, err := (&http.Client{Transport: connections}).Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, answer.Status)
	}
	return cmp.Or(answer.Body.Close(), err)
}

// outcomes has a client make the calls in a session of its own. It leaves out the
// structured content, which not every revision has.
func outcomes(t *testing.T, c client, to target, calls ...call) []outcome {
	t.Helper()
	got := c.observe(t, to, c.era, calls)
	readErrors(&got)
	for i := range got.Outcomes {
		got.Outcomes[i].Structured = nil
	}
	return got.Outcomes
}

// Every client gets to know that a person is waited for, and its repeated call
// what the person has decided. One that can show the address has it decided on the
// way.
func TestT18_ClientsWaitForAPerson(t *testing.T) {
	t.Parallel()
	var calls []call
	for _, person := range []string{"approves", "denies", "takes it back", "is away"} {
		calls = append(calls, call{Name: "purge", Arguments: map[string]any{"person": person}})
	}
	pending := outcome{IsError: true, Error: ambit.CodeApprovalPending}
	denied := outcome{IsError: true, Error: ambit.CodeApprovalDenied}
	waits := []outcome{pending, pending, pending, pending}
	decided := []outcome{{Text: "deleted, run 1"}, denied, denied, pending}
	for _, c := range clients {
		if c.curt {
			continue
		}
		for _, shows := range []bool{false, true} {
			if shows && (c.version != modern || c.name == "mcp-go") {
				continue // there is no way to ask them
			}
			t.Run(fmt.Sprintf("%s/%s/shows addresses %t", c.name, cmp.Or(c.era, "default"), shows), func(t *testing.T) {
				t.Parallel()
				a := newAsking(t, shows)
				want := waits
				if shows {
					want = decided
				}
				for range 2 {
					if diff := gocmp.Diff(want, outcomes(t, c, a.target, calls...)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					a.decideAll(t)
					want = decided
				}
			})
		}
	}
}
