package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// asked is an instance whose destructive calls take somebody's word, and are on
// record.
type asked struct {
	*instance
	log       *audit.Log
	confirmed *ambit.Contract[note, note]
	ran       *runs
	held      chan struct{} // gets one for each call that is at work until away
	away      chan struct{} // closed when the server is
	swept     chan struct{} // closed when what is forgotten beside the first call is
}

// sweeping is a store that tells when it has first forgotten what is old, which
// takes a connection beside the calls.
type sweeping struct {
	*postgres.Store
	done func()
}

func (s *sweeping) Forget(ctx context.Context, keep time.Duration) (int, error) {
	defer s.done()
	return s.Store.Forget(ctx, keep)
}

func newAsked(t *testing.T, store *postgres.Store) *asked {
	t.Helper()
	a := &asked{instance: &instance{t: t, store: store}, ran: &runs{of: map[string]int{}}, held: make(chan struct{}), away: make(chan struct{}), swept: make(chan struct{})}
	quiet := slog.New(slog.DiscardHandler)
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{5}, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	kept := &sweeping{a.store, sync.OnceFunc(func() { close(a.swept) })}
	if a.log, err = audit.New(kept, audit.Options{Keys: ring, Application: "notes", Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.log.Close() })
	if a.approvals, err = approval.New(kept, approval.Options{Audit: a.log, Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.approvals.Close(context.Background()) })
	a.app = ambit.New(ambit.Options{
		Name: "notes", Keys: ring, Approver: a.approvals, Ledger: a.log, Logger: quiet,
		Limits: ambit.Limits{InFlight: ambit.Unlimited, Rate: ambit.Rate{Calls: ambit.Unlimited}},
	})
	spec := func(name string, level ambit.Approval) ambit.Spec {
		return ambit.Spec{
			Name: name, Description: "Does it.", Effect: ambit.Destructive, Permission: "notes", Approval: level, Expose: ambit.HTTP,
			ConfirmWithin: time.Hour, Deadline: 10 * time.Minute, // as some are held
		}
	}
	a.confirmed = ambit.NewContract[note, note](spec("notes.confirmed", ambit.Confirm))
	a.purge = ambit.NewContract[note, note](spec("notes.purge", ambit.Human))
	handler := func(ctx context.Context, in note) (note, error) {
		if strings.HasSuffix(in.Text, "held") {
			a.held <- struct{}{}
			<-a.away
		}
		if out, err := a.ran.count(ctx, in); !strings.HasSuffix(in.Text, "fails") {
			return out, err
		}
		return note{}, errors.New("it fails")
	}
	a.app.Add(a.confirmed.Bind(handler), a.purge.Bind(handler))
	return a
}

// operation is one call and what became of it, as its caller knows.
type operation struct {
	contract *ambit.Contract[note, note]
	text, id string // id is the proposal's
	token    string // that confirms it
	answer   ambit.Code
}

// workload makes destructive calls by several callers, each until it is settled.
type workload struct {
	*asked
	stop context.CancelFunc
	done sync.WaitGroup

	mu         sync.Mutex
	operations []*operation
	answers    map[string]int // by capability and code
}

func (a *asked) workload(t *testing.T, callers int) *workload {
	ctx, cancel := context.WithCancel(t.Context())
	w := &workload{asked: a, stop: cancel, answers: map[string]int{}}
	for caller := range callers {
		for _, c := range []*ambit.Contract[note, note]{a.confirmed, a.purge} {
			w.done.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					o := &operation{contract: c, text: fmt.Sprintf("%s %d.%d", c.Name(), caller, n)}
					if n%4 == 3 {
						o.text += " fails"
					}
					w.carryOut(o)
				}
			})
		}
	}
	t.Cleanup(w.end)
	return w
}

func (w *workload) end() {
	w.stop()
	w.done.Wait()
}

// carryOut repeats a call, with whatever word it takes, until it is settled.
func (w *workload) carryOut(o *operation) {
	for {
		failure := w.try(o)
		switch {
		case o.answer == ambit.CodeUnavailable:
		case o.answer == ambit.CodeConfirmationRequired && failure.Approval != nil:
		case o.answer == ambit.CodeApprovalPending && failure.Approval != nil:
			w.approve(o.id)
		default:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.operations = append(w.operations, o)
			return
		}
	}
}

// try makes a call once.
func (w *workload) try(o *operation) *ambit.Error {
	var options []ambit.CallOption
	if o.token != "" {
		options = append(options, ambit.WithConfirmation(o.token))
	}
	_, err := w.callWith(o.contract, o.text, options...)
	o.answer = code(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[o.contract.Name()+" "+string(o.answer)]++
	failure, _ := errors.AsType[*ambit.Error](err)
	if failure != nil && failure.Approval != nil && (o.answer == ambit.CodeConfirmationRequired || o.answer == ambit.CodeApprovalPending) {
		o.id, o.token = failure.Approval.ID, failure.Approval.Token
	}
	return failure
}

// approve has a person approve what waits. It may fail with the database.
func (w *workload) approve(id string) {
	ann := &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "ann", Permissions: []string{ambit.DefaultDecidePermission}}
	view, err := w.approvals.View(w.t.Context(), w.app, ann, id)
	if err == nil {
		_, err = w.approvals.Decide(w.t.Context(), w.app, ann, approval.Ruling{ID: id, Verdict: approval.Approve, Preview: view.Seen()})
	}
	if c := code(err); err != nil && c != ambit.CodeUnavailable && c != ambit.CodeConflict {
		w.t.Errorf("a decision: %v", err)
	}
}

// more waits until calls of both kinds have been answered with a code again.
func (w *workload) more(t *testing.T, c ambit.Code) {
	t.Helper()
	count := func(o *ambit.Contract[note, note]) int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.answers[o.Name()+" "+string(c)]
	}
	for _, o := range []*ambit.Contract[note, note]{w.confirmed, w.purge} {
		before := count(o)
		wait(t, func() bool { return count(o) > before+5 })
	}
}

// check compares what became of all calls by the store with what the audit says.
// None ran twice. It returns how many ended in which state.
func (w *workload) check(t *testing.T) map[ambit.ProposalState]int {
	t.Helper()
	w.end()
	a := w.asked
	if err := a.log.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	a.store.Advance(time.Hour) // leases lapse
	ended, open := a.audited(t)
	states, late := map[ambit.ProposalState]int{}, 0
	for _, o := range w.operations {
		r, err := a.store.Get(t.Context(), "acme", o.id)
		if err != nil {
			t.Fatalf("%s: %v", o.text, err)
		}
		states[r.State]++
		times := a.ran.get(o.text)
		outcome, hasEnded := ended[o.id]
		want := ambit.ProposalUnknown
		switch {
		case open[o.id] || !hasEnded:
		case r.State == ambit.ProposalUnknown:
			// The server was away when it ended: its outcome went on record later,
			// for the person who settles it.
			late++
		case outcome == "":
			want = ambit.ProposalSucceeded
		default:
			want = ambit.ProposalFailed
		}
		if r.State != want || times > 1 || hasEnded && times != 1 {
			t.Errorf("%s: want it %s, as the audit says, got it %s, run %d times, answered %q", o.text, want, r.State, times, o.answer)
		}
		if hasEnded && (outcome == "") == strings.HasSuffix(o.text, "fails") {
			t.Errorf("%s: the audit has the outcome %q", o.text, outcome)
		}
		if known := o.answer == "" || o.answer == ambit.CodeUpstream; known && times != 1 || !known && o.answer != ambit.CodeConflict {
			t.Errorf("%s ran %d times, and was answered %q", o.text, times, o.answer)
		}
	}
	t.Logf("states: %v, of which the outcome came late: %d; answers: %v", states, late, w.answers)
	return states
}

// mixed checks that calls ended in all ways: done, failed, and the two unknown that
// were held while the server was away.
func mixed(t *testing.T, states map[ambit.ProposalState]int) {
	t.Helper()
	if states[ambit.ProposalSucceeded] == 0 || states[ambit.ProposalFailed] == 0 || states[ambit.ProposalUnknown] < 2 {
		t.Errorf("want calls that succeeded, some that failed, and the two that were held unknown, got %v", states)
	}
}

// audited returns how calls that a proposal allowed have ended by the record, and
// those that have not. The record itself is whole.
func (a *asked) audited(t *testing.T) (ended map[string]ambit.Code, open map[string]bool) {
	t.Helper()
	report, err := a.log.Verify(t.Context(), "acme", nil)
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("want the record whole, got %v, %v", report.Findings, err)
	}
	unended := map[string]bool{}
	for _, o := range report.Open {
		unended[o.Call] = true
	}
	ended, open = map[string]ambit.Code{}, map[string]bool{}
	for q := (audit.Query{Tenant: "acme"}); ; {
		page, next, err := a.log.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			r, err := e.Record()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case r.Kind == audit.KindOutcome && r.Ran:
				if _, twice := ended[r.Proposal]; twice {
					t.Errorf("proposal %s: want one outcome, got another", r.Proposal)
				}
				ended[r.Proposal] = ambit.Code(r.Code)
			case r.Kind == audit.KindIntent && unended[r.Call]:
				open[r.Proposal] = true
			}
		}
		if next == "" {
			return ended, open
		}
		q.After = next
	}
}
