package approval_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// What takes more than its contract says tells the decider why, on the page and at
// the terminal.
func TestDecidersAreToldWhyItTakesMore(t *testing.T) {
	t.Parallel()
	var doubts atomic.Bool
	monitor := ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
		if doubts.Load() {
			return ambit.Verdict{Severity: ambit.Soft, Reason: "the folder \u202eis in use"}, nil
		}
		return ambit.Verdict{}, nil
	})
	s := &website{notes: newNotes(t, approval.Options{}, func(o *ambit.Options) { o.Monitor = monitor })}
	s.open()
	alice, bob, robot := s.person("alice"), s.person("bob"), s.person("robot", as(ambit.KindAgent))
	first, _ := s.asked(alice, "notes.confirm", shelfInput{Folder: "old"}, "the first time")
	doubts.Store(true)
	raised, _ := s.asked(alice, "notes.confirm", shelfInput{Folder: "old"}, "once more")
	if first == nil || raised == nil || first.ID != raised.ID {
		t.Fatalf("want one proposal that was raised, got %+v and %+v", first, raised)
	}
	contract, _ := s.asked(alice, "notes.purge", shelfInput{Folder: "old"}, "")
	doubts.Store(false)
	agents, _ := s.asked(robot, "notes.confirm", shelfInput{Folder: "old"}, "")
	plain, _ := s.asked(alice, "notes.purge", shelfInput{Folder: "new"}, "")
	const usually, doubt = "more than usual: the application's monitor has something against it", `the folder \u202eis in use`
	for _, test := range []struct {
		name, id     string
		want, absent []string
	}{
		{"raised by the monitor", raised.ID, []string{usually, doubt, "once more"}, []string{"the first time"}},
		{"a monitor's doubt about what takes a person anyway", contract.ID, []string{doubt}, []string{usually, "more than"}},
		{"asked by an agent", agents.ID, []string{"more than of others: an agent could confirm its own call"}, []string{"monitor"}},
		{"as the contract says", plain.ID, nil, []string{"more than", "monitor"}},
	} {
		view, err := s.approvals.View(t.Context(), s.app, bob, test.id)
		s.must(err)
		page := s.text(s.send(http.MethodGet, "/approvals/"+test.id, "", session(bob, "1m")))
		for _, want := range test.want {
			if !strings.Contains(view.String(), want) {
				t.Errorf("%s, at the terminal: want %q in:\n%s", test.name, want, view)
			}
			if !strings.Contains(strings.ReplaceAll(page, "&#39;", "'"), want) {
				t.Errorf("%s, on the page: want %q in:\n%s", test.name, want, page)
			}
		}
		for _, absent := range test.absent {
			if strings.Contains(view.String(), absent) {
				t.Errorf("%s, at the terminal: want no %q in:\n%s", test.name, absent, view)
			}
		}
		if !strings.Contains(view.String(), "Came by: the HTTP API\n") {
			t.Errorf("%s: want it said how it came in:\n%s", test.name, view)
		}
	}
}

// A person's decision is in the log in words, and in one line whatever it says.
func TestDecisionsAreLogged(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	n := newNotes(t, approval.Options{Logger: logTo(&said)})
	alice, bob := n.person("alice"), n.person("bob\u202e")
	id := n.ask(alice, "notes.purge", "a secret folder")
	view, err := n.approvals.View(t.Context(), n.app, bob, id)
	n.must(err)
	_, err = n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Approve, Reason: "seen \u2066it", Preview: view.Seen()})
	n.must(err)
	_, line, _ := strings.Cut(said.String(), "level=INFO ")
	want := `msg="a person decided about a proposal" capability=notes.purge requester="alice (login)" verdict=approve decider="bob\\u202e (login)" reason="seen \\u2066it" state=approved proposal=` + id + "\n"
	if line != want {
		t.Errorf("want %q, got %q", want, line)
	}
}

// failing is a store that does not take the end of a call.
type failing struct{ *memory.Store }

func (failing) FinishWith(context.Context, ambit.Claim, ambit.Ending, audit.Entry) error {
	return errors.New("the connection is lost")
}

// Of a call whose end the store does not know a person is told what the audit record
// says, which settles nothing by itself.
func TestWhoSettlesSeesTheRecord(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	store := failing{memory.New()}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.New(store, audit.Options{Keys: keys, Application: "notes", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	approvals, err := approval.New(store, approval.Options{Audit: log, Logger: quiet, URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	s := &website{notes: newNotesOn(t, store.Store, approval.Options{}, func(o *ambit.Options) { o.Approver, o.Ledger, o.Logger = approvals, log, quiet })}
	s.approvals = approvals
	s.open()
	alice, bob := s.person("alice"), s.person("bob")
	id := s.ask(alice, "notes.purge", "old")
	s.must(s.decide(bob, id, approval.Approve))
	s.call(alice, "notes.purge", shelfInput{Folder: "old"}, "")
	s.must(log.Flush(t.Context()))
	if got := s.calls.Load(); got != 1 {
		t.Fatalf("want the call made once, got %d", got)
	}
	s.store.Advance(ambit.DefaultDeadline * 10)
	if got := s.state(id); got != "unknown" {
		t.Fatalf("want it unknown, got %s", got)
	}
	view, err := s.approvals.View(t.Context(), s.app, bob, id)
	s.must(err)
	if view.Ended == nil || view.Ended.Code != "" || !strings.Contains(view.String(), "The record says: it succeeded (on ") {
		t.Errorf("want the end that is on record, got %+v in:\n%s", view.Ended, view)
	}
	text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(bob, "1m")))
	inOrder(t, "the page", text, "nobody knows how it ended", "The audit record says: it succeeded on ", "If that is what you find, say so below")
	s.must(s.decide(bob, id, approval.SettleSucceeded))
	if view, err = s.approvals.View(t.Context(), s.app, bob, id); err != nil || view.Ended != nil {
		t.Errorf("once it is settled: want no more of it, got %+v, %v", view.Ended, err)
	}
}

// dying is a store as a process sees it that dies within the handler: nothing of the
// call's end comes there until the test is over.
type dying struct {
	*memory.Store
	over atomic.Bool
}

func (d *dying) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	if d.over.Load() {
		return d.Store.FinishWith(ctx, c, ending, e)
	}
	return errors.New("the process has died")
}

func (d *dying) Append(ctx context.Context, entries ...audit.Entry) error {
	if !d.over.Load() && slices.ContainsFunc(entries, func(e audit.Entry) bool { return e.Kind == audit.KindOutcome }) {
		return errors.New("the process has died")
	}
	return d.Store.Append(ctx, entries...)
}

// What a person has settled by another process is no longer a call that has not ended.
func TestSettledIsNotOpen(t *testing.T) {
	t.Parallel()
	quiet, store := slog.New(slog.DiscardHandler), memory.New()
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	type both interface {
		approval.Store
		audit.Store
	}
	approvalsOn := func(store both) (*approval.Approvals, *audit.Log) {
		log, err := audit.New(store, audit.Options{Keys: keys, Application: "notes", Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		approvals, err := approval.New(store, approval.Options{Audit: log, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		return approvals, log
	}
	process := &dying{Store: store}
	dead, lost := approvalsOn(process)
	t.Cleanup(func() { process.over.Store(true) })
	n := newNotesOn(t, store, approval.Options{}, func(o *ambit.Options) { o.Approver, o.Ledger, o.Logger = dead, lost, quiet })
	var alive *audit.Log
	n.approvals, alive = approvalsOn(store)
	bob := n.person("bob")
	id := n.ask(n.person("alice"), "notes.purge", "old")
	n.must(n.decide(bob, id, approval.Approve))
	n.call(n.person("alice"), "notes.purge", shelfInput{Folder: "old"}, "")
	n.store.Advance(ambit.DefaultDeadline * 10)
	for _, open := range []int{1, 0} {
		report, err := alive.Verify(t.Context(), "", nil)
		if err != nil || len(report.Findings) > 0 || len(report.Open) != open {
			t.Errorf("%s: want %d open, got %+v, %v", n.state(id), open, report, err)
		}
		if open == 1 {
			n.must(n.decide(bob, id, approval.SettleFailed))
		}
	}
}

// Nothing is said of an end that is not on record.
func TestWhoSettlesSeesNothingThatIsNotOnRecord(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice, bob := s.person("alice"), s.person("bob")
	id := s.ask(alice, "notes.purge", "old")
	s.must(s.decide(bob, id, approval.Approve))
	s.lose(id)
	view, err := s.approvals.View(t.Context(), s.app, bob, id)
	s.must(err)
	if view.Ended != nil || strings.Contains(view.String(), "record says") {
		t.Errorf("want nothing said, got %+v in:\n%s", view.Ended, view)
	}
}
