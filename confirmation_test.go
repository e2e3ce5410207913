package ambit_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// A confirmation is for one call, by one caller, of one contract: everything else
// is told the same.
func TestT14_ConfirmationIsBound(t *testing.T) {
	t.Parallel()
	const invalid = "The confirmation is unknown or for another call."
	with := func(change func(*ambit.Principal)) *ambit.Principal {
		who := *writer
		change(&who)
		return &who
	}
	for _, test := range []struct {
		name   string
		who    *ambit.Principal
		input  string
		change func(*world)
		token  func(string) string
		want   string
	}{
		{name: "the same call", want: `{"text":"a 1"}`},
		{name: "the same call, written another way", input: `{ "times": 1, "text": "\u0061" }`, want: `{"text":"a 1"}`},
		{name: "another title", change: func(w *world) { w.spec.Title = "Other" }, want: `{"text":"a 1"}`},
		{name: "another input", input: `{"text":"b"}`, want: invalid},
		{name: "another subject", who: with(func(p *ambit.Principal) { p.Subject = "bob" }), want: invalid},
		{name: "another tenant", who: with(func(p *ambit.Principal) { p.Tenant = "acme" }), want: invalid},
		{name: "another authority", who: with(func(p *ambit.Principal) { p.Authority = "other" }), want: invalid},
		{name: "a second client of the same user", who: with(func(p *ambit.Principal) { p.Client = "other" }), want: invalid},
		{name: "another revision", change: func(w *world) { w.spec.Revision = "2" }, want: invalid},
		{name: "another permission", change: func(w *world) { w.spec.Permission = ambit.Authenticated }, want: invalid},
		{name: "other scopes", change: func(w *world) { w.spec.Scopes = []string{"change"} }, want: invalid},
		{name: "another effect", change: func(w *world) { w.spec.Effect, w.spec.Approval = ambit.External, ambit.Confirm }, want: invalid},
		{name: "another application", change: func(w *world) { w.options.Name = "other" }, want: invalid},
		{name: "other keys", change: func(w *world) { w.options.Keys = newRing() }, want: invalid},
		{name: "cut", token: func(token string) string { return token[:len(token)-4] }, want: invalid},
		{name: "longer", token: func(token string) string { return token + "AAAA" }, want: invalid},
		{name: "changed", token: func(token string) string { return token[:60] + "AAAA" + token[64:] }, want: invalid},
		{name: "with padding", token: func(token string) string { return token + "=" }, want: invalid},
		{name: "with a new line", token: func(token string) string { return token + "\n" }, want: invalid},
		{name: "very long", token: func(token string) string { return token + strings.Repeat("A", 1<<20) }, want: invalid},
		{name: "an outcome", token: func(string) string {
			return base64.RawURLEncoding.EncodeToString(newRing().Sealer("outcome", "test").Seal(nil, make([]byte, 50), nil))
		}, want: invalid},
	} {
		w := newWorld(nil)
		token := w.prepare(t, writer, ambit.Request{})
		if test.change != nil {
			test.change(w)
			w.restart()
		}
		if test.token != nil {
			token = test.token(token)
		}
		if test.who == nil {
			test.who = writer
		}
		if test.input == "" {
			test.input = `{"text":"a"}`
		}
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: test.who, Surface: ambit.HTTP})
		result, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(test.input), Confirmation: token})
		run.End()
		got := string(result.Output)
		if err != nil {
			got = wireOf(failure(t, err))
		}
		is(t, test.name, test.want, got)
		if runs := w.runs.Load(); (runs == 1) != (test.want != invalid) {
			t.Errorf("%s: ran %d times", test.name, runs)
		}
	}
}

// A token tells nothing to who holds it.
func TestT24_ConfirmationIsOpaque(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	tokens := [...]string{w.prepare(t, writer, ambit.Request{}), w.prepare(t, writer, ambit.Request{})}
	if tokens[0] == tokens[1] {
		t.Error("want two tokens for one proposal to differ")
	}
	plain, err := base64.RawURLEncoding.DecodeString(tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []string{"change", "alice", "test", "Change a"} {
		if strings.Contains(string(plain), known) {
			t.Errorf("the token shows %q", known)
		}
	}
	// Both confirm the same proposal, and so one run.
	for _, token := range tokens {
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
		is(t, "confirmed", `{"text":"a 1"}`, text)
	}
}

// A key that was replaced opens what it has sealed until its date, and the
// operation stays the same one.
func TestT24_ConfirmationOutlivesARotation(t *testing.T) {
	t.Parallel()
	older := ambit.NewKey()
	w := newWorld(func(w *world) { w.options.Keys = ring(t, older) })
	token := w.prepare(t, writer, ambit.Request{})
	w.options.Keys = ring(t, ambit.NewKey()+","+older+";until=2999-01-01")
	w.restart()
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "after the rotation", `{"text":"a 1"}`, text)
}

// What the caller was shown is what runs.
func TestT16_ConfirmedPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	token := w.prepare(t, writer, ambit.Request{})
	w.version = "2"
	text, failure := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "changed since", `since it was confirmed.","hint":"Make the call again without a confirmation, so that it is asked about as it is now."`, text)
	if failure.Code != ambit.CodeConflict || failure.Executed != ambit.ExecutedNo || w.runs.Load() != 0 {
		t.Errorf("want a conflict and no run, got %s and %d", text, w.runs.Load())
	}
	w.version = "1"
	w.prepare(t, writer, ambit.Request{})
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "changed back", `{"text":"a 1"}`, text)
	// It has been done: what is to be seen now does not matter to a repetition.
	for _, unshown := range []error{nil, ambit.Errorf(ambit.CodeNotFound, "It is gone.")} {
		w.version, w.unshown = "3", unshown
		text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
		is(t, "repeated", `{"text":"a 1"} replayed`, text)
	}
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{})
	is(t, "another one, of what is gone", "It is gone.", text)
}

// A confirmation has its own time: that the same call is prepared once more gives
// it no other.
func TestT14_ConfirmationExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(func(w *world) { w.spec.ConfirmWithin = time.Minute })
		first := w.prepare(t, writer, ambit.Request{})
		<-time.After(40 * time.Second)
		second := w.prepare(t, writer, ambit.Request{})
		<-time.After(20 * time.Second)
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: first})
		is(t, "the first", "The confirmation has expired.", text)
		text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: second})
		is(t, "the second", `{"text":"a 1"}`, text)
		// What was done in time is told whenever somebody asks.
		<-time.After(time.Hour)
		text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: second})
		is(t, "the second, long after", `{"text":"a 1"} replayed`, text)
	})
}

// Who answers a prompter allows what was shown.
func TestT16_ConsentIsToThePreview(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Prompter: ambit.PrompterFunc(func(_ context.Context, q ambit.Question) (ambit.Answer, error) {
		if q.Preview == nil || q.Preview.Version != "1" {
			t.Errorf("want the preview shown, got %+v", q.Preview)
		}
		w.version = "2" // while the person thinks
		return ambit.Allow, nil
	})})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)})
	if e := failure(t, err); e.Code != ambit.CodeConflict || e.Executed != ambit.ExecutedNo || w.runs.Load() != 0 {
		t.Errorf("want a conflict and no run, got %v", err)
	}
}

// A confirmation counts where one is asked for, and is no more than that.
func TestT18_ConfirmationIsNoApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	token := w.prepare(t, writer, ambit.Request{})
	text, _ := w.call(writer, ambit.MCP, ambit.Request{Confirmation: token})
	is(t, "over MCP, where destructive takes a person", `"approval_pending"`, text)
	w = newWorld(func(w *world) { w.spec.Effect = ambit.Write })
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: "anything"})
	is(t, "where nothing is asked", `{"text":"a 1"}`, text)
	w = newWorld(func(w *world) {
		w.options.Modes = map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModePlan}
	})
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "in plan mode", `"blocked_in_plan_mode"`, text)
}

// Nobody is asked about what is invalid, and nobody who shows no credential can
// be asked for anything.
func TestT14_WhoCanPrepare(t *testing.T) {
	t.Parallel()
	public := func(w *world) { w.spec.Permission = ambit.Public }
	for _, test := range []struct {
		name    string
		who     *ambit.Principal
		change  func(*world)
		surface ambit.Surface
		input   string
		want    string
	}{
		{"nobody in particular", anonymous, public, ambit.HTTP, `{"text":"a"}`, "only callers who show a credential can get one"},
		{"invalid input", writer, nil, ambit.HTTP, `{"text":""}`, `"invalid_input"`},
		{"without the permission", alice, nil, ambit.HTTP, `{"text":"a"}`, `"forbidden"`},
		{"a page's tool, to be confirmed", writer, func(w *world) {
			w.spec.Effect, w.spec.Approval, w.spec.Expose = ambit.External, ambit.Confirm, ambit.HTTP|ambit.WebMCP
		}, ambit.WebMCP, `{"text":"a"}`, `"confirmation_required"`},
		{"a page's tool, that a monitor has doubts about", writer, func(w *world) {
			w.spec.Effect, w.spec.Expose = ambit.External, ambit.HTTP|ambit.WebMCP
			w.options.Monitor = doubts
		}, ambit.WebMCP, `{"text":"a"}`, "a page's tool cannot ask for one"},
		{"a monitor's doubts", writer, func(w *world) {
			w.spec.Effect, w.options.Monitor = ambit.Write, doubts
		}, ambit.HTTP, `{"text":"a"}`, `"level":"human","state":"pending"`},
		{"without keys", writer, func(w *world) { w.options.Keys, w.options.DestructiveOverMCP, w.spec.Expose = nil, false, ambit.HTTP }, ambit.HTTP, `{"text":"a"}`, `"confirmation_unavailable"`},
		{"without an approver", writer, func(w *world) { w.options.Approver, w.spec.Expose = nil, ambit.HTTP }, ambit.HTTP, `{"text":"a"}`, `"confirmation_unavailable"`},
		{"with an approver that fails", writer, func(w *world) { w.options.Approver, w.spec.Expose = refuses{memory()}, ambit.HTTP }, ambit.HTTP, `{"text":"a"}`, `"unavailable"`},
	} {
		w := newWorld(test.change)
		ctx, run := w.NewRun(t.Context(), ambit.RunOptions{
			Principal: test.who, Surface: test.surface, Agent: ambit.AgentIdentity{URL: "https://agent.example", Key: "k1", Level: ambit.AgentOnce},
		})
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(test.input)})
		run.End()
		is(t, test.name, test.want, wireOf(failure(t, err)))
		if w.runs.Load() != 0 {
			t.Errorf("%s: want no run", test.name)
		}
	}
}

var doubts = ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
	return ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}, nil
})

// Of many who confirm at once one runs, and all the others are told what became
// of it.
func TestT17_ConfirmedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(func(w *world) { w.options.Limits.InFlight = 1000 })
	token := w.prepare(t, writer, ambit.Request{})
	answers := make([]string, 100)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			key := ""
			if i%2 == 0 {
				key = fmt.Sprint("k", i)
			}
			answers[i], _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token, IdempotencyKey: key})
		})
	}
	all.Wait()
	first := 0
	for _, got := range answers {
		switch {
		case got == `{"text":"a 1"}`:
			first++
		case got == `{"text":"a 1"} replayed`, strings.Contains(got, "This very call is running."):
		default:
			t.Errorf("want the answer, a repetition of it or a conflict, got %s", got)
		}
	}
	if w.runs.Load() != 1 || first != 1 {
		t.Errorf("want one run and one first answer, got %d and %d", w.runs.Load(), first)
	}
}

// Each phase asks the store once: preparing, confirming, ending.
func TestT17_RoundTrips(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		level ambit.Approval
		key   string
		want  []string
	}{
		{"confirmed", ambit.Confirm, "", []string{"", "claim finish"}},
		{"confirmed, with a key", ambit.Confirm, "k", []string{"find", "find claim finish"}},
		{"approved", ambit.Human, "", []string{"", "claim finish"}},
	} {
		calls := &ledgerCalls{}
		w := newWorld(func(w *world) {
			calls.Ledger = w.store
			w.spec.Approval = test.level
			w.options.Ledger = unwrapping{calls, w.store}
		})
		var got []string
		note := func() {
			got = append(got, calls.String())
			calls.text.Reset()
		}
		_, failure := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: test.key})
		note()
		if test.level == ambit.Human {
			w.mustDecide(t, carol, 1, "")
		}
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{IdempotencyKey: test.key, Confirmation: failure.Approval.Token})
		note()
		is(t, test.name, `{"text":"a 1"}`, text)
		if strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%s: want the ledger asked %q, got %q", test.name, test.want, got)
		}
	}
}

// unwrapping is a ledger around another.
type unwrapping struct {
	*ledgerCalls
	inner ambit.Ledger
}

func (u unwrapping) Unwrap() ambit.Ledger { return u.inner }

// A handler that vouches that nothing happened gives the confirmation back.
func TestT17_ConfirmationIsGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	token := w.prepare(t, writer, ambit.Request{})
	w.err = ambit.Errorf(ambit.CodeConflict, "Somebody was faster.")
	text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "refused by the handler", "Somebody was faster.", text)
	w.err = errors.New("the disk is full")
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "failed", `"upstream"`, text)
	w.err = nil
	text, _ = w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token})
	is(t, "again", `"upstream"`, text)
	if !strings.HasSuffix(text, "replayed") || w.runs.Load() != 2 {
		t.Errorf("want the failure repeated after two runs, got %s after %d", text, w.runs.Load())
	}
}

// The handler finds what was allowed, where something was.
func TestT16_HandlerSeesTheVersion(t *testing.T) {
	t.Parallel()
	var got ambit.Approved
	seen := &records{}
	w := newWorld(func(w *world) { w.options.Observers = []ambit.Observer{seen} })
	look := ambit.Define(w.spec, func(ctx context.Context, in echoInput) (echoOutput, error) {
		got = ambit.FromContext(ctx).Approval()
		return echoOutput{}, nil
	}).WithPreview(func(ctx context.Context, _ echoInput) (ambit.Preview, error) {
		if before := ambit.FromContext(ctx).Approval(); before != (ambit.Approved{}) {
			t.Errorf("want nothing allowed within the preview, got %+v", before)
		}
		return ambit.Preview{Summary: "Look", Version: "etag-7"}, nil
	})
	w.App = newApp(w.options, look)
	token := w.prepare(t, writer, ambit.Request{})
	prepared := seen.last(t)
	if text, _ := w.call(writer, ambit.HTTP, ambit.Request{Confirmation: token}); !strings.Contains(text, `"text"`) {
		t.Fatal(text)
	}
	e := seen.last(t)
	if got.Level != ambit.Confirm || got.Version != "etag-7" || got.ID == "" || got.ID != e.Proposal || got.ID != prepared.Proposal || !e.VersionSeen || prepared.VersionSeen {
		t.Errorf("want what was allowed, in the handler and in the event, got %+v, %+v, %+v", got, prepared, e)
	}
	ctx, run := w.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Prompter: ambit.PrompterFunc(func(_ context.Context, q ambit.Question) (ambit.Answer, error) {
		if want := "It would: Look\nVersion: etag-7\n"; !strings.Contains(q.String(), want) {
			t.Errorf("want %q in the question, got %q", want, q)
		}
		return ambit.Allow, nil
	})})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	if want := (ambit.Approved{Level: ambit.Confirm, Version: "etag-7"}); got != want {
		t.Errorf("by consent: want %+v, got %+v", want, got)
	}
	if zero := (*ambit.Call)(nil).Approval(); zero != (ambit.Approved{}) {
		t.Errorf("outside a call: want nothing, got %+v", zero)
	}
}
