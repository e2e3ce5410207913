package approval_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// notes is an application with calls that take a person's word.
type notes struct {
	t         testing.TB
	app       *ambit.App
	store     *memory.Store
	approvals *approval.Approvals

	calls atomic.Int64 // of handlers
	fails atomic.Bool  // the handler vouches that nothing happened

	mu     sync.Mutex
	shelf  string                      // what a preview shows
	people map[string]*ambit.Principal // as they are now, by key
}

type shelfInput struct {
	Folder string `json:"folder" minLength:"1" maxLength:"60000"`
	Reason string `json:"reason,omitempty"`
	Pin    string `json:"pin,omitempty" secret:"true"`
}

const pageURL = "https://notes.example.com/approvals"

// newNotes returns an application whose approvals have these options, as far as
// the test does not need its own.
func newNotes(t testing.TB, o approval.Options, adjust ...func(*ambit.Options)) *notes {
	t.Helper()
	return newNotesOn(t, memory.New(), o, adjust...)
}

func newNotesOn(t testing.TB, store *memory.Store, o approval.Options, adjust ...func(*ambit.Options)) *notes {
	t.Helper()
	n := &notes{t: t, store: store, shelf: "3 notes", people: map[string]*ambit.Principal{}}
	if o.URL == "" {
		o.URL = pageURL
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if n.approvals, err = approval.New(n.store, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.approvals.Close(context.Background()) })
	secret := make([]byte, ambit.MinKey)
	_, _ = rand.Read(secret)
	keys, err := ambit.NewKeyRing(ambit.Key{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	options := ambit.Options{Name: "notes", Title: "Notes", Keys: keys, Approver: n.approvals, Resolve: n.resolve, Logger: o.Logger}
	for _, f := range adjust {
		f(&options)
	}
	n.app = ambit.New(options)
	purge := func(context.Context, shelfInput) (ambit.Empty, error) {
		if n.fails.Load() {
			return ambit.Empty{}, &ambit.Error{Code: ambit.CodeUnavailable, Message: "The shelf is locked.", Executed: ambit.ExecutedNo}
		}
		n.calls.Add(1)
		return ambit.Empty{}, nil
	}
	preview := func(_ context.Context, in shelfInput) (ambit.Preview, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		return ambit.Preview{Summary: "Delete " + n.shelf + " for good", Items: []ambit.PreviewItem{{ID: "n-1", Title: "Roadmap", Change: "gone"}}, Version: "v:" + n.shelf}, nil
	}
	spec := func(name string, level ambit.Approval, quorum int) ambit.Spec {
		return ambit.Spec{
			Name: name, Title: "Purge a folder", Description: "Deletes every note of a folder.", Effect: ambit.Destructive,
			Permission: "notes:purge", Expose: ambit.HTTP, Approval: level, Quorum: quorum, Revision: options.Version,
		}
	}
	n.app.Add(
		ambit.Define(spec("notes.purge", ambit.Human, 0), purge).WithPreview(preview),
		ambit.Define(spec("notes.purge_all", ambit.FourEyes, 0), purge).WithPreview(preview),
		ambit.Define(spec("notes.purge_both", ambit.Human, 2), purge).WithPreview(preview),
		ambit.Define(spec("notes.confirm", ambit.Confirm, 0), purge).WithPreview(preview),
	)
	if err := n.app.Freeze(); err != nil {
		t.Fatal(err)
	}
	return n
}

// person makes somebody known who may ask and decide.
func (n *notes) person(name string, adjust ...func(*ambit.Principal)) *ambit.Principal {
	p := &ambit.Principal{Authority: "login", Subject: name, Permissions: []string{"notes:purge", "approvals:decide"}, Unscoped: true}
	for _, f := range adjust {
		f(p)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.people[p.Key()] = p
	return p
}

// allow changes what somebody may.
func (n *notes) allow(p *ambit.Principal, permissions ...string) {
	now := *p
	now.Permissions = permissions
	n.mu.Lock()
	defer n.mu.Unlock()
	n.people[p.Key()] = &now
}

func (n *notes) resolve(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.people[p.Key()], nil
}

// fill changes what a purge would delete.
func (n *notes) fill(shelf string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shelf = shelf
}

// call makes a call over HTTP and returns its failure.
func (n *notes) call(who *ambit.Principal, capability string, in shelfInput, reason string) *ambit.Error {
	n.t.Helper()
	ctx, run := n.app.NewRun(n.t.Context(), ambit.RunOptions{Principal: who, Surface: ambit.HTTP})
	defer run.End()
	input, err := json.Marshal(in)
	if err != nil {
		n.t.Fatal(err)
	}
	_, err = run.Invoke(ctx, ambit.Request{Name: capability, Input: input, Reason: reason})
	failure, ok := errors.AsType[*ambit.Error](err)
	if err != nil && !ok {
		n.t.Fatalf("want an *ambit.Error, got %T", err)
	}
	return failure
}

// ask makes a call that has to wait for a person, and returns the proposal's id.
func (n *notes) ask(who *ambit.Principal, capability, folder string) (id string) {
	n.t.Helper()
	waits, failure := n.asked(who, capability, shelfInput{Folder: folder}, "the quarter is over")
	if waits == nil {
		n.t.Fatalf("want a call that waits, got %v", failure)
	}
	return waits.ID
}

// asked makes a call and returns what it waits for, nil for nothing, and its
// failure.
func (n *notes) asked(who *ambit.Principal, capability string, in shelfInput, reason string) (*ambit.Awaited, error) {
	n.t.Helper()
	failure := n.call(who, capability, in, reason)
	if failure == nil {
		return nil, nil
	}
	return failure.Approval, failure
}

// decide says something as somebody who has looked.
func (n *notes) decide(who *ambit.Principal, id string, v approval.Verdict) error {
	n.t.Helper()
	ruling := approval.Ruling{ID: id, Verdict: v, Reason: "because"}
	if view, err := n.approvals.View(n.t.Context(), n.app, who, id); err == nil {
		ruling.Preview = view.Seen()
	}
	_, err := n.approvals.Decide(n.t.Context(), n.app, who, ruling)
	return err
}

// must fails the test on an error.
func (n *notes) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// state returns how far a proposal has come.
func (n *notes) state(id string) string {
	n.t.Helper()
	r, err := n.store.Get(n.t.Context(), "", id)
	n.must(err)
	return r.State.String()
}

// codeOf returns the code of an error, "" for none.
func codeOf(err error) ambit.Code {
	if failure, ok := errors.AsType[*ambit.Error](err); ok {
		return failure.Code
	}
	if err != nil {
		return ambit.Code("another error: " + err.Error())
	}
	return ""
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func as(kind ambit.Kind) func(*ambit.Principal) {
	return func(p *ambit.Principal) { p.Kind = kind }
}

func behind(others ...*ambit.Principal) func(*ambit.Principal) {
	return func(p *ambit.Principal) {
		for _, other := range others {
			p.Behind = append(p.Behind, other.Key())
		}
	}
}

func in(tenant string) func(*ambit.Principal) {
	return func(p *ambit.Principal) { p.Tenant = tenant }
}

func holding(permissions ...string) func(*ambit.Principal) {
	return func(p *ambit.Principal) { p.Permissions = permissions }
}
