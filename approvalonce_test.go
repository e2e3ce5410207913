package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// However often and under whatever keys it is asked, it is one question and one
// run, and a rotation of keys in between changes nothing.
func TestT21_RetriesUnderNewKeys(t *testing.T) {
	t.Parallel()
	older := ambit.NewKey()
	w := newWorld(func(w *world) { w.spec.Approval, w.options.Keys = ambit.Human, ring(t, older) })
	for i := range 10 {
		if i == 5 {
			w.options.Keys = ring(t, ambit.NewKey()+","+older+";until=2999-01-01")
			w.restart()
		}
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: fmt.Sprint("k", i)})
		is(t, "asked", `"approval_pending"`, text)
	}
	page, _, err := w.store.List(t.Context(), approval.Filter{})
	if err != nil || len(page) != 1 {
		t.Fatalf("want one proposal, got %d, %v", len(page), err)
	}
	w.mustDecide(t, carol, approval.Approve, "")
	for i, want := range []string{`{"text":"a 1"}`, `{"text":"a 1"} replayed`} {
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: "k3"})
		if text != want {
			t.Errorf("call %d: want %s, got %s", i, want, text)
		}
	}
	// Without a key the approval itself remembers.
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "without a key", `{"text":"a 1"} replayed`, text)
	// A deliberate repetition has a new key, and is asked about anew.
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: "once-more"})
	is(t, "once more", `"approval_pending"`, text)
	if w.runs.Load() != 1 {
		t.Errorf("want one run, got %d", w.runs.Load())
	}
}

// What was approved for one client of a user is not for another.
func TestT14_ApprovalIsForOneClient(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.spec.Approval = ambit.Human })
	other := *writer
	other.Client = "other"
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	text, _ = w.call(&other, ambit.HTTP, ambit.Request{})
	is(t, "the other client", `"approval_pending"`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "the client that asked", `{"text":"a 1"}`, text)
	text, _ = w.call(&other, ambit.HTTP, ambit.Request{})
	is(t, "the other client, afterwards", `"approval_pending"`, text)
}

// A decider who may not decide any more counts no longer.
func TestT13_DecidersAreAskedAboutAgain(t *testing.T) {
	t.Parallel()
	fired := false
	w := newWorld(func(w *world) {
		w.spec.Approval, w.spec.Quorum = ambit.Human, 2
		w.options.Resolve = func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			if fired && p.Subject == carol.Subject {
				return nil, nil //nolint:nilnil // that is how it is said
			}
			return p, nil
		}
	})
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "one of two", `"approval_pending"`, text)
	w.mustDecide(t, dave, approval.Approve, "")
	fired = true
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "one of the two has gone", `"approval_pending"`, text)
	if w.runs.Load() != 0 {
		t.Errorf("want no run, got %d", w.runs.Load())
	}
}

// What a person has approved is what runs: another preview is another question.
func TestT16_ApprovedPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.spec.Approval = ambit.Human })
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	w.version = "2"
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "changed since", `"code":"conflict","message":"What this call would do has changed since it was allowed.","hint":"Make the call again, so that it is asked about as it is now."`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "asked about anew", `"approval_pending"`, text)
	w.mustDecide(t, carol, approval.Approve, "")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "approved anew", `{"text":"a 1"}`, text)
	w.unshown = ambit.Errorf(ambit.CodeNotFound, "It is gone.")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "repeated, with nothing left to be seen", `{"text":"a 1"} replayed`, text)
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: "new"})
	is(t, "another one, of what is gone", "It is gone.", text)
}

// The answer of the run's own person is on record as what it is.
func TestT13_ConsentIsRecorded(t *testing.T) {
	t.Parallel()
	for answer, want := range map[ambit.Answer]ambit.ProposalState{ambit.Allow: ambit.ProposalApproved, ambit.Deny: ambit.ProposalDenied} {
		w := newWorld(nil)
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Prompter: ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) {
			return answer, nil
		})})
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)})
		run.End()
		page, _, listErr := w.store.List(t.Context(), approval.Filter{})
		if listErr != nil || len(page) != 1 || page[0].Kind != ambit.KindConsent || page[0].State != want || (err == nil) != (answer == ambit.Allow) {
			t.Errorf("answer %d: want a consent on record in the state %s, got %+v, %v, %v", answer, want, page, listErr, err)
		}
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{})
		is(t, "the same call elsewhere", `"confirmation_required"`, text)
	}
	w := newWorld(func(w *world) { w.options.Approver, w.spec.Expose = refuses{memory()}, ambit.HTTP })
	ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Prompter: ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) {
		return ambit.Allow, nil
	})})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)}); ambit.CodeOf(err) != ambit.CodeUnavailable || w.runs.Load() != 0 {
		t.Errorf("an answer that cannot be recorded: want unavailable and no run, got %v", err)
	}
}

// diary is a ledger that has what changes something on record before it runs.
type diary struct {
	ambit.Ledger
	mu      sync.Mutex
	intents []ambit.Intent
	endings []ambit.Ending
	claims  []ambit.Claim
	fail    error
}

func (d *diary) Records(e ambit.Effect) bool { return e > ambit.Write }
func (d *diary) Unwrap() ambit.Ledger        { return d.Ledger }

func (d *diary) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return ambit.Record{}, d.fail
	}
	if c.Intent != nil {
		intent := *c.Intent
		intent.Input = slices.Clone(intent.Input)
		d.intents = append(d.intents, intent)
	}
	d.claims = append(d.claims, c)
	if c.Key == (ambit.Digest{}) && c.Approval.ID == "" {
		return ambit.Record{}, nil
	}
	return d.Ledger.Claim(ctx, c)
}

func (d *diary) Finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endings = append(d.endings, e)
	if c.Key == (ambit.Digest{}) && c.Approval.ID == "" {
		return nil
	}
	return d.Ledger.Finish(ctx, c, e)
}

func (d *diary) Release(ctx context.Context, c ambit.Claim) error {
	if c.Key == (ambit.Digest{}) && c.Approval.ID == "" {
		return nil
	}
	return d.Ledger.Release(ctx, c)
}

// inputs is an observer that wants inputs.
type inputs struct {
	records
	seen []string
}

func (i *inputs) FinishInput(ctx context.Context, e ambit.Event, input ambit.CallInput) {
	i.records.Finish(ctx, e)
	i.seen = append(i.seen, string(input.AppendCanonical(nil)))
}

// What executes, reaches out or destroys is on record before it runs, with its
// input but for the secrets in it, whether it has a key or an approval or neither.
func TestT22_Intents(t *testing.T) {
	t.Parallel()
	book, seen := &diary{Ledger: storage.New()}, &inputs{}
	external := writeSpec("send")
	external.Effect, external.RecordInput = ambit.External, true
	ran := 0
	send := func(context.Context, purgeInput) (ambit.Empty, error) { ran++; return ambit.Empty{}, nil }
	app := newApp(ambit.Options{Ledger: book, Observers: []ambit.Observer{seen}}, ambit.Define(external, send), ambit.Define(writeSpec("change"), echo))
	call := func(name, input, key string) error {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Surface: ambit.HTTP, Request: "r1"})
		defer run.End()
		_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(input), IdempotencyKey: key, Reason: "because"})
		return err
	}
	for _, key := range []string{"", "k"} {
		if err := call("send", `{"password":"hunter22","before":"2020"}`, key); err != nil {
			t.Fatal(err)
		}
	}
	if err := call("change", `{"text":"a"}`, ""); err != nil {
		t.Fatal(err)
	}
	if err := call("change", `{"text":""}`, ""); err == nil {
		t.Fatal("want invalid input")
	}
	if len(book.intents) != 2 || len(book.endings) != 2 || ran != 2 {
		t.Fatalf("want two intents, endings and runs, got %d, %d and %d", len(book.intents), len(book.endings), ran)
	}
	for i, intent := range book.intents {
		if want := `{"before":"2020","password":"(secret)"}`; string(intent.Input) != want {
			t.Errorf("want the input %s, got %s", want, intent.Input)
		}
		if diff := cmp.Diff(seen.started[i], intent.Event, cmpopts.IgnoreFields(ambit.Event{}, "Key")); diff != "" {
			t.Errorf("want the event as it began (-started +intent):\n%s", diff)
		}
		if e := book.endings[i].Event; e == nil || !cmp.Equal(*e, seen.finished[i]) || !e.RecordInput {
			t.Errorf("want the event as it ended, got %+v", e)
		}
		if (book.endings[i].Outcome != nil) != (i == 1) {
			t.Errorf("ending %d: want an outcome only where there is a key", i)
		}
	}
	want := []string{`{"before":"2020","password":"(secret)"}`, `{"before":"2020","password":"(secret)"}`, `{"text":"a","times":1}`, ""}
	if diff := cmp.Diff(want, seen.seen); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	book.fail = errors.New("the disk is full")
	if err := call("send", `{"before":"2020"}`, ""); ambit.CodeOf(err) != ambit.CodeUnavailable || ran != 2 {
		t.Errorf("without a record: want unavailable and no run, got %v", err)
	}
}

// joining is a ledger on the database of the application's own transactions.
type joining struct {
	*storage.Store
	finished []string // by what transaction
	fail     error
}

type transaction struct{}

func (j *joining) Unwrap() ambit.Ledger { return j.Store }

func (j *joining) Joins(ctx context.Context) bool { return ctx.Value(transaction{}) != nil }

func (j *joining) Finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	name, _ := ctx.Value(transaction{}).(string)
	j.finished = append(j.finished, name)
	if name != "" && j.fail != nil {
		return j.fail
	}
	if name == "rolled back" {
		return nil // and nothing of it stays
	}
	return j.Store.Finish(ctx, c, e)
}

// The outcome is part of the handler's own transaction, where there is one, and
// is kept by itself where that one is rolled back.
func TestT17_OutcomeJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	broken := errors.New("serialization failure")
	for _, test := range []struct {
		name     string
		tx       string // "": none
		commit   error
		fail     error
		output   string
		err      error
		finished []string
		first    string
		then     string
	}{
		{name: "no transaction", finished: []string{""}, first: `{"text":"a 1"}`, then: `{"text":"a 1"} replayed`},
		{name: "committed", tx: "committed", finished: []string{"committed"}, first: `{"text":"a 1"}`, then: `{"text":"a 1"} replayed`},
		{name: "the commit failed", tx: "rolled back", commit: broken, finished: []string{"rolled back", ""}, first: `"upstream"`, then: "replayed"},
		{name: "the outcome could not be kept", tx: "committed", fail: broken, finished: []string{"committed", ""}, first: `"unavailable"`, then: "replayed"},
		{name: "the handler failed", tx: "rolled back", err: broken, finished: []string{""}, first: `"upstream"`, then: "replayed"},
	} {
		ledger := &joining{fail: test.fail}
		w := newWorld(func(w *world) {
			ledger.Store, w.options.Ledger = w.store, ledger
			w.err = test.err
			w.options.Middleware = []ambit.Middleware{{Name: "transaction", Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (any, error) {
				if test.tx != "" && !call.Previewing() {
					ctx = context.WithValue(ctx, transaction{}, test.tx)
				}
				out, err := next(ctx)
				if err == nil && !call.Previewing() {
					err = test.commit
				}
				return out, err
			}}}
		})
		token := w.prepare(t, writer, ambit.Request{})
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
		is(t, test.name, test.first, text)
		text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
		is(t, test.name+", repeated", test.then, text)
		if diff := cmp.Diff(test.finished, ledger.finished); diff != "" || w.runs.Load() != 1 {
			t.Errorf("%s: finished by transaction, %d runs (-want +got):\n%s", test.name, w.runs.Load(), diff)
		}
	}
}

// An output that must not leave rolls the transaction back.
func TestT17_InvalidOutputIsNotCommitted(t *testing.T) {
	t.Parallel()
	committed := false
	w := newWorld(nil)
	ledger := &joining{Store: w.store}
	w.options.Ledger = ledger
	w.options.Middleware = []ambit.Middleware{{Name: "transaction", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
		out, err := next(context.WithValue(ctx, transaction{}, "tx"))
		committed = err == nil
		return out, err
	}}}
	w.App = newApp(w.options, ambit.Define(w.spec, func(context.Context, echoInput) (echoOutput, error) {
		return echoOutput{Text: string(make([]byte, 300))}, nil
	}))
	token := w.prepare(t, writer, ambit.Request{})
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "invalid", `"invalid_output"`, text)
	if committed {
		t.Error("want the transaction rolled back")
	}
}

// Whatever requesters, deciders, time and changes do in whatever order: what runs
// was approved, within its time and for what it does, and each approval runs
// once.
func TestT17_ApprovalsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(func(w *world) { w.spec.Approval = ambit.Human })
		approvals, runs := 0, int64(0)
		approvedVersion := ""
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"call", "call", "call", "approve", "deny", "revoke", "change", "lapse", "restart"}).Draw(t, "step") {
			case "call":
				key := rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(t, "key")
				text, _ := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: key})
				switch now := w.runs.Load(); {
				case now > runs+1:
					t.Fatalf("one call ran %d times", now-runs)
				case now > runs && approvals < 1:
					t.Fatalf("ran without an approval: %s", text)
				case now > runs && approvedVersion != w.version:
					t.Fatalf("ran for version %s, approved was %s", w.version, approvedVersion)
				case now > runs:
					approvals--
				}
				runs = w.runs.Load()
			case "approve":
				if w.decideAny(carol, approval.Approve) == nil {
					approvals, approvedVersion = 1, w.version // one proposal is open at a time
				}
			case "deny":
				_ = w.decideAny(carol, approval.Deny)
			case "revoke":
				if w.decideAny(carol, approval.Revoke) == nil {
					approvals = 0
				}
			case "change":
				w.version = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "version")
			case "lapse":
				w.store.Advance(ambit.DefaultExecuteWithin)
				approvals = 0
			case "restart":
				w.restart()
			}
		}
	})
}

// decideAny says something about the newest proposal, if there is one.
func (w *world) decideAny(who *ambit.Principal, verdict approval.Verdict) error {
	page, _, err := w.store.List(context.Background(), approval.Filter{})
	if err != nil || len(page) == 0 {
		return errors.Join(err, errors.New("nothing to decide"))
	}
	view, err := w.approvals.View(context.Background(), w.App, who, page[0].ID)
	if err != nil {
		return err
	}
	_, err = w.approvals.Decide(context.Background(), w.App, who, approval.Ruling{ID: page[0].ID, Verdict: verdict, Preview: view.Seen()})
	return err
}
