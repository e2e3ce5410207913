package approval_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// processes are two of one application on one store: one serves agents, and
// persons decide in the other.
type processes struct {
	agents, deciders *notes
	ring             *ambit.KeyRing
	opens            string
	log              bytes.Buffer // of the agents'
}

func newProcesses(t *testing.T) *processes {
	t.Helper()
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	p := &processes{ring: ring}
	var seals string
	seals, p.opens = ambit.NewReviewKey()
	store := memory.New()
	p.agents = p.on(t, store, seals, approval.Options{Logger: logTo(&p.log)})
	p.deciders = p.on(t, store, p.opens, approval.Options{})
	return p
}

// on returns one more process, without review keys where there are none to parse.
func (p *processes) on(t *testing.T, store *memory.Store, keys string, o approval.Options) *notes {
	t.Helper()
	n := newNotesOn(t, store, o, func(o *ambit.Options) {
		o.Keys = p.ring
		if keys == "" {
			return
		}
		var err error
		if o.ReviewKeys, err = ambit.ParseReviewKeys(keys); err != nil {
			t.Fatal(err)
		}
	})
	if p.agents != nil {
		n.people = p.agents.people
	}
	return n
}

// A process that runs agents' work asks, waits, and makes what was approved; it
// shows and decides nothing.
func TestT24_AgentsProcessesDecideNothing(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	alice, bob := p.agents.person("alice"), p.agents.person("bob")
	id := p.agents.ask(alice, "notes.purge", "old")

	const want = "confirmation_unavailable: This process has no key that opens proposals."
	_, viewed := p.agents.approvals.View(t.Context(), p.agents.app, bob, id)
	_, _, listed := p.agents.approvals.List(t.Context(), p.agents.app, bob, approval.Filter{})
	_, _, grants := p.agents.approvals.Grants(t.Context(), p.agents.app, bob, approval.GrantFilter{})
	_, grant := p.agents.approvals.Grant(t.Context(), p.agents.app, bob, id)
	_, revoked := p.agents.approvals.RevokeGrant(t.Context(), p.agents.app, bob, id, "")
	for name, err := range map[string]error{"looked at": viewed, "listed": listed, "grants": grants, "a grant": grant, "a grant revoked": revoked} {
		if err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
	for v := approval.Approve; v <= approval.SettleFailed; v++ {
		view, err := p.deciders.approvals.View(t.Context(), p.deciders.app, bob, id)
		p.deciders.must(err)
		if _, err := p.agents.approvals.Decide(t.Context(), p.agents.app, bob, approval.Ruling{ID: id, Verdict: v, Preview: view.Seen()}); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", v, want, err)
		}
	}
	if log := p.log.String(); !strings.Contains(log, "Options.ReviewKeys has no half that opens, so that nobody decides in this process") {
		t.Errorf("want the log to say which key is missing, got:\n%s", log)
	}
	if got := p.agents.state(id); got != "pending" {
		t.Fatalf("want pending, got %s", got)
	}

	if again := p.agents.ask(alice, "notes.purge", "old"); again != id {
		t.Errorf("asked again: want the same proposal, got another")
	}
	list, _, err := p.deciders.approvals.List(t.Context(), p.deciders.app, bob, approval.Filter{})
	if err != nil || len(list) != 1 || p.deciders.app.Summary(list[0].Proposal) != "Delete 3 notes for good" {
		t.Errorf("where persons decide: want it listed with its summary, got %+v, %v", list, err)
	}
	p.deciders.must(p.deciders.decide(bob, id, approval.Approve))
	if failure := p.agents.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil || p.agents.calls.Load() != 1 {
		t.Errorf("approved: want it made once, got %v and %d", failure, p.agents.calls.Load())
	}
	if failure := p.agents.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil || p.agents.calls.Load() != 1 || p.agents.state(id) != "succeeded" {
		t.Errorf("repeated: want its outcome, got %v after %d calls", failure, p.agents.calls.Load())
	}
	view, err := p.deciders.approvals.View(t.Context(), p.deciders.app, bob, id)
	if err != nil || view.Review == nil || string(view.Review.Input) != `{"folder":"old"}` {
		t.Errorf("afterwards: want what was approved, got %+v, %v", view.Review, err)
	}
}

// What it waits for can change while it waits, and an approval can be lost: neither
// takes a key that opens.
func TestT24_AgentsProcessesAskAnew(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	alice, bob := p.agents.person("alice"), p.agents.person("bob")
	id := p.agents.ask(alice, "notes.purge", "old")
	p.agents.fill("4 notes")
	p.deciders.fill("4 notes")
	if again := p.agents.ask(alice, "notes.purge", "old"); again != id {
		t.Error("want the same proposal, got another")
	}
	p.deciders.must(p.deciders.decide(bob, id, approval.Approve))
	p.agents.fill("5 notes")
	if failure := p.agents.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure == nil || failure.Code != ambit.CodeConflict {
		t.Errorf("it would change something else: want a conflict, got %v", failure)
	}
	p.deciders.fill("5 notes")
	again := p.agents.ask(alice, "notes.purge", "old")
	p.deciders.must(p.deciders.decide(bob, again, approval.Approve))
	if failure := p.agents.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil || p.agents.calls.Load() != 1 {
		t.Errorf("want it made once, got %v and %d", failure, p.agents.calls.Load())
	}
}

// The page stands where persons decide, and takes no form that a process without
// the half that opens could make.
func TestT24_FormsTakeTheHalfThatOpens(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	alice, bob := p.agents.person("alice"), p.agents.person("bob")
	id := p.agents.ask(alice, "notes.purge", "old")
	login := &website{notes: p.agents}
	_, err := approval.NewPage(p.agents.app, p.agents.approvals, approval.PageOptions{Login: login.login, SignIn: signIn})
	const want = "approval: NewPage: ambit: Options.ReviewKeys has no half that opens, so that nobody decides in this process: decide in one that has it, or give this one the half ambit_opens. of ambit_seals."
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("want no page where nobody decides, %q, got %v", want, err)
	}
	site := &website{notes: p.deciders}
	site.open()
	_, foreign := ambit.NewReviewKey()
	for name, keys := range map[string]string{"the ring alone": "", "the ring and a key made up": foreign} {
		forger := p.on(t, memory.New(), keys, approval.Options{})
		r, err := p.agents.store.Get(t.Context(), "", id)
		p.agents.must(err)
		page, err := approval.NewPage(forger.app, forger.approvals, approval.PageOptions{Login: login.login, SignIn: signIn})
		p.agents.must(err)
		form := site.form(bob, id, approval.Approve)
		form.Set("token", approval.Token(page, bob, &r, r.Proposal.Preview))
		answer := site.send(http.MethodPost, "/approvals/"+id, form.Encode(), session(bob, "1m"))
		if answer.StatusCode != http.StatusConflict || site.state(id) != "pending" {
			t.Errorf("%s: want the form refused, got %d and %s", name, answer.StatusCode, site.state(id))
		}
	}
	answer := site.send(http.MethodPost, "/approvals/"+id, site.form(bob, id, approval.Approve).Encode(), session(bob, "1m"))
	if answer.StatusCode != http.StatusSeeOther || site.state(id) != "approved" {
		t.Errorf("the page's own: want it approved, got %d and %s", answer.StatusCode, site.state(id))
	}
}
