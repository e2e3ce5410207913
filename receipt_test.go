package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// changing are the members of a receipt that are never the same.
var changing = regexp.MustCompile(`"(ended|call|run|proposal)":"[^"]+"`)

func withoutIDs(text string) string { return changing.ReplaceAllString(text, `"$1":"…"`) }

const (
	madeOnce   = `{"code":"conflict","message":"The call was made, and its result is not kept.","hint":"Do not make it again. The receipt has the ids under which it is on record.","executed":"yes","receipt":{"succeeded":true,"ended":"…","call":"…","run":"…"}} replayed`
	madeByWord = `{"code":"conflict","message":"The call was made, and its result is not kept.","hint":"Do not make it again. The receipt has the ids under which it is on record.","executed":"yes","receipt":{"succeeded":true,"ended":"…","call":"…","run":"…","proposal":"…"}} replayed`
)

// failedWith is the repetition of a call that failed with a code.
func failedWith(code ambit.Code, executed ambit.Executed, hint string) string {
	return `{"code":"` + string(code) + `","message":"The call failed, and what it answered is not kept.","hint":"` + hint +
		`","executed":"` + string(executed) + `","receipt":{"succeeded":false,"ended":"…","call":"…","run":"…"}} replayed`
}

// Whoever repeats a call whose outcome must not be kept learns whether it succeeded,
// and by which ids it is on record. Nothing else of the outcome is anywhere.
func TestT21_Receipts(t *testing.T) {
	t.Parallel()
	const findOut, doNotRepeat = "Find out what it did before you make the call again, with a new key.", "Do not make it again. The receipt has the ids under which it is on record."
	for _, test := range []struct {
		name string
		run  func(context.Context, ambit.Empty) (echoOutput, error)
		want string
	}{
		{"it succeeds", func(context.Context, ambit.Empty) (echoOutput, error) { return echoOutput{"canary"}, nil }, madeOnce},
		{"it fails", func(context.Context, ambit.Empty) (echoOutput, error) { return echoOutput{}, errors.New("canary") }, failedWith(ambit.CodeUpstream, ambit.ExecutedUnknown, findOut)},
		{"it fails with facts of its own", func(context.Context, ambit.Empty) (echoOutput, error) {
			e := ambit.Errorf(ambit.CodeConflict, "canary").WithHint("canary").WithDetails(map[string]any{"canary": "canary"})
			return echoOutput{}, withExecuted(e, ambit.ExecutedYes)
		}, failedWith(ambit.CodeConflict, ambit.ExecutedYes, doNotRepeat)},
		{"it panics", func(context.Context, ambit.Empty) (echoOutput, error) { panic("canary") }, failedWith(ambit.CodeInternal, ambit.ExecutedUnknown, findOut)},
		{"its output is invalid", func(context.Context, ambit.Empty) (echoOutput, error) {
			return echoOutput{strings.Repeat("canary", 100)}, nil
		}, failedWith(ambit.CodeInvalidOutput, ambit.ExecutedYes, doNotRepeat)},
	} {
		spec := writeSpec("change")
		spec.Replay = ambit.ReplayReceipt
		ledger, keys, seen := &diary{Ledger: memory()}, newRing(), &records{}
		app := newApp(ambit.Options{Ledger: ledger, Keys: keys, Observers: []ambit.Observer{seen}},
			ambit.Define(spec, test.run).WithText(func(o echoOutput) string { return "said " + o.Text }))
		first := invoke(app, writer, "change", `{}`, "k")
		if strings.Contains(first, "receipt") {
			t.Errorf("%s: want the outcome itself for the call that ran, got %s", test.name, first)
		}
		ran := seen.last(t)
		again := invoke(app, writer, "change", `{}`, "k")
		if diff := cmp.Diff(test.want, withoutIDs(again)); diff != "" {
			t.Errorf("%s, repeated (-want +got):\n%s", test.name, diff)
		}
		if want := `"call":"` + ran.Call.String() + `","run":"` + ran.Run.String() + `"`; !strings.Contains(again, want) {
			t.Errorf("%s: want the ids %s of the call that ran, got %s", test.name, want, again)
		}
		if e := seen.last(t); !e.Replayed || e.Ran {
			t.Errorf("%s: want the repetition replayed and not run, got %+v", test.name, e)
		}
		operation := ledger.claims[0].Binding.Operation()
		ending := ledger.endings[0]
		kept, err := keys.Sealer("outcome", "test").Open(nil, ending.Outcome, operation[:])
		if err != nil || ending.Receipt != nil || len(ledger.endings) != 1 {
			t.Fatalf("%s: want one ending with an outcome that opens and no receipt beside it, got %+v, %v", test.name, ledger.endings, err)
		}
		if strings.Contains(string(kept), "canary") || !strings.Contains(string(kept), ran.Call.String()) {
			t.Errorf("%s: want nothing kept of the outcome, got %s", test.name, kept)
		}
	}
}

// A call that vouches that nothing happened leaves no receipt: it can be made again.
func TestT21_ReceiptsAreForCallsThatRan(t *testing.T) {
	t.Parallel()
	spec := writeSpec("change")
	spec.Replay = ambit.ReplayReceipt
	c := &counted{err: ambit.Errorf(ambit.CodeConflict, "Somebody was faster.")}
	app := newApp(ambit.Options{Ledger: memory()}, ambit.Define(spec, c.run))
	is(t, "refused", "Somebody was faster.", invoke(app, writer, "change", `{"text":"a"}`, "k"))
	c.err = nil
	is(t, "once more", `{"text":"a 2"}`, invoke(app, writer, "change", `{"text":"a"}`, "k"))
	is(t, "another call", "stands for another call", invoke(app, writer, "change", `{"text":"b"}`, "k"))
}

// Go callers get the receipt as an error: there is no output that they could take
// for one.
func TestT21_TypedReceipts(t *testing.T) {
	t.Parallel()
	spec := writeSpec("change")
	spec.Replay = ambit.ReplayReceipt
	contract := ambit.NewContract[echoInput, echoOutput](spec)
	app := newApp(ambit.Options{Ledger: memory()}, contract.Bind((&counted{}).run))
	ctx, run := begin(t, app, writer, ambit.InProcess)
	before := time.Now().Add(-time.Second)
	if out, err := contract.Call(ctx, echoInput{Text: "a"}, ambit.WithIdempotencyKey("k")); err != nil || out.Text != "a 1" {
		t.Fatalf("want the output, got %v, %v", out, err)
	}
	out, err := contract.Call(ctx, echoInput{Text: "a"}, ambit.WithIdempotencyKey("k"))
	e := failure(t, err)
	if out != (echoOutput{}) || e.Code != ambit.CodeConflict || e.Executed != ambit.ExecutedYes || !e.Replayed() || e.Retryable() {
		t.Errorf("want no output and a conflict that says that the call was made, got %v, %+v", out, e)
	}
	if r := e.Receipt; r == nil || !r.Succeeded || r.Call == "" || r.Run != run.ID().String() || r.Ended.Before(before) {
		t.Errorf("want the receipt of the call, got %+v", r)
	}
	var read ambit.Error // as a Go client reads it
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if diff := cmp.Diff(e.Receipt, read.Receipt); err != nil || diff != "" {
		t.Errorf("the receipt in JSON: %v (-want +got):\n%s", err, diff)
	}
}

// A proposal keeps the receipt too, whosever word it took, and whatever the effect.
func TestT21_ReceiptsOfApprovedCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		effect ambit.Effect
		level  ambit.Approval
		want   string
	}{
		{ambit.Destructive, ambit.ApprovalUnset, madeByWord},
		{ambit.Destructive, ambit.Human, madeByWord},
		{ambit.Write, ambit.Human, madeByWord},
		{ambit.Read, ambit.Human, strings.Replace(madeByWord, `"executed":"yes",`, "", 1)}, // a read has no effect to tell of
	} {
		w := newWorld(func(w *world) {
			w.spec.Effect, w.spec.Approval, w.spec.Replay = test.effect, test.level, ambit.ReplayReceipt
		})
		request := ambit.Request{}
		if test.level == ambit.ApprovalUnset {
			request.Confirmation = w.prepare(t, writer, request)
		} else {
			w.call(writer, ambit.HTTP, request)
			w.mustDecide(t, carol, approval.Approve, "")
		}
		for i, want := range []string{`{"text":"a 1"}`, test.want, test.want} {
			if text, _ := w.call(writer, ambit.HTTP, request); withoutIDs(text) != want {
				t.Errorf("%s %s, call %d: want %s, got %s", test.level, test.effect, i, want, text)
			}
		}
		page, _, err := w.store.List(t.Context(), approval.Filter{})
		if err != nil || len(page) != 1 || page[0].State != ambit.ProposalSucceeded {
			t.Fatalf("want one proposal that succeeded, got %+v, %v", page, err)
		}
		record, err := w.store.Get(t.Context(), "", page[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		operation := record.Proposal.Binding.Operation()
		kept, err := w.keys.Sealer("outcome", "test").Open(nil, record.Outcome, operation[:])
		if err != nil || strings.Contains(string(kept), "a 1") || !strings.Contains(string(kept), record.ID) {
			t.Errorf("want a receipt with the proposal and nothing of the outcome, got %s, %v", kept, err)
		}
	}
}

// Where the outcome joins the application's transaction it is a receipt as well.
func TestT21_ReceiptsJoinTheTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) {
		w.spec.Replay, w.options.Ledger = ambit.ReplayReceipt, &joining{Store: w.store}
		w.options.Middleware = []ambit.Middleware{{Name: "transaction", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			return next(context.WithValue(ctx, transaction{}, "committed"))
		}}}
	})
	token := w.prepare(t, writer, ambit.Request{})
	for i, want := range []string{`{"text":"a 1"}`, madeByWord} {
		if text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token}); withoutIDs(text) != want {
			t.Errorf("call %d: want %s, got %s", i, want, text)
		}
	}
}

// What is too large to keep leaves a receipt, and what has no room for that, that it
// has ended.
func TestT21_AnswersTooLargeToKeep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		room idempotency.Options
		size int
		want string
	}{
		{"small enough", idempotency.Options{Outcome: 1000}, 700, `"} replayed`},
		{"too large", idempotency.Options{Outcome: 1000}, 1400, madeOnce},
		{"no room for it", idempotency.Options{Bytes: 2000}, 1400, madeOnce},
		{"no room at all", idempotency.Options{Bytes: 10}, 1, "The call with this idempotency key has ended, and its answer was not kept."},
	} {
		runs := 0
		app := newApp(ambit.Options{Ledger: idempotency.NewMemory(test.room)}, ambit.Define(writeSpec("change"), func(context.Context, ambit.Empty) (report, error) {
			runs++
			return report{Text: strings.Repeat("a", test.size)}, nil
		}))
		invoke(app, writer, "change", `{}`, "k")
		got := withoutIDs(invoke(app, writer, "change", `{}`, "k"))
		is(t, test.name, test.want, strings.ReplaceAll(got, `,"count":0`, ""))
		if runs != 1 {
			t.Errorf("%s: want one run, got %d", test.name, runs)
		}
	}
}

// died is the store of a process that dies before it ends a claim.
type died struct{ ambit.Ledger }

func (d died) Unwrap() ambit.Ledger { return d.Ledger }

func (died) Finish(context.Context, ambit.Claim, ambit.Ending) error { return nil }

// What a person has settled says by itself whether it was made.
func TestT21_SettledCalls(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[approval.Verdict]string{
		approval.SettleSucceeded: strings.Replace(madeByWord, `"ended":"…","call":"…","run":"…",`, "", 1),
		approval.SettleFailed: `"code":"conflict","message":"A person has found out that the call did not take effect.",` +
			`"hint":"Make it again with a new idempotency key, so that it is asked about anew.","executed":"no","receipt":{"succeeded":false,"proposal":"…"}`,
	} {
		w := newWorld(func(w *world) { w.spec.Approval = ambit.Human })
		w.options.Ledger = died{w.store}
		w.restart()
		w.call(writer, ambit.HTTP, ambit.Request{})
		w.mustDecide(t, carol, approval.Approve, "")
		w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: "k"})
		w.store.Advance(time.Hour) // beyond the lease
		w.mustDecide(t, carol, verdict, "looked it up")
		for _, key := range []string{"", "k"} {
			text, _ := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: key})
			is(t, verdict.String()+" "+key, want, withoutIDs(text))
		}
		if w.runs.Load() != 1 {
			t.Errorf("%s: want one run, got %d", verdict, w.runs.Load())
		}
	}
}

// A receipt is part of what a capability promises: what was kept for the same call
// before says nothing any more.
func TestT21_ReceiptIsPartOfTheContract(t *testing.T) {
	t.Parallel()
	ledger, keys, c := memory(), newRing(), &counted{}
	spec := writeSpec("change")
	instance := func() *ambit.App { return newApp(ambit.Options{Ledger: ledger, Keys: keys}, ambit.Define(spec, c.run)) }
	invoke(instance(), writer, "change", `{"text":"a"}`, "k")
	spec.Replay = ambit.ReplayReceipt
	is(t, "under the new contract", "stands for another call", invoke(instance(), writer, "change", `{"text":"a"}`, "k"))
}
