package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// report has a part that its JSON form keeps out.
type report struct {
	Text  string `json:"text" maxLength:"3000"`
	Count int64  `json:"count"`
	image []byte
}

// The forms for models are repeated as they were, whoever wanted them first.
func TestT21_EveryFormIsRepeated(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{Ledger: memory()},
		ambit.Define(writeSpec("draw"), func(context.Context, ambit.Empty) (report, error) {
			return report{Text: "<a&b>\u2028", Count: 9007199254740993, image: []byte{1, 2}}, nil
		}).WithText(func(r report) string { return "an image of " + string('0'+rune(len(r.image))) + " bytes" }).
			WithContent(func(r report) []ambit.Content {
				return []ambit.Content{{Kind: ambit.ImageContent, Data: r.image, MIMEType: "image/png"}}
			}),
		ambit.Define(writeSpec("say"), func(context.Context, ambit.Empty) (string, error) { return "plain \"text\"", nil }))
	for _, name := range []string{"draw", "say"} {
		ctx, run := begin(t, app, writer, ambit.MCP)
		want, err := run.Invoke(ctx, ambit.Request{Name: name, WantText: true})
		if err != nil {
			t.Fatal(err)
		}
		want.Replayed, want.Buffer = true, nil
		for _, first := range []ambit.Request{{WantText: true}, {}, {Input: []byte("typed")}} {
			key := fmt.Sprintf("%s,%t,%s", name, first.WantText, first.Input)
			switch {
			case first.Input == nil:
				first.Name, first.IdempotencyKey = name, key
				_, err = run.Invoke(ctx, first)
			case name == "draw":
				_, err = ambit.NewContract[ambit.Empty, report](writeSpec("draw")).Call(ctx, ambit.Empty{}, ambit.WithIdempotencyKey(key))
			default:
				_, err = ambit.NewContract[ambit.Empty, string](writeSpec("say")).Call(ctx, ambit.Empty{}, ambit.WithIdempotencyKey(key))
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := run.Invoke(ctx, ambit.Request{Name: name, WantText: true, IdempotencyKey: key, Into: []byte("data: ")})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(got.Buffer, []byte("data: ")) {
				t.Errorf("want the output behind what the surface wrote, got %s", got.Buffer)
			}
			got.Buffer = nil
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b ambit.AnyContract) bool { return a == b })); diff != "" {
				t.Errorf("%s, key %s (-want +got):\n%s", name, key, diff)
			}
		}
	}
}

func TestT21_TypedCallsAreRepeated(t *testing.T) {
	t.Parallel()
	c, seen := &counted{}, &records{}
	contract := ambit.NewContract[echoInput, echoOutput](writeSpec("change"))
	app := newApp(ambit.Options{Ledger: memory(), Observers: []ambit.Observer{seen}}, contract.Bind(c.run))
	ctx, _ := begin(t, app, writer, ambit.InProcess)
	for i, replayed := range []bool{false, true} {
		out, err := contract.Call(ctx, echoInput{Text: "a"}, ambit.WithIdempotencyKey("k"))
		if want := (echoOutput{Text: "a 1"}); err != nil || out != want {
			t.Errorf("call %d: want %v, got %v, %v", i, want, out, err)
		}
		if e := seen.last(t); e.Replayed != replayed || e.Ran == replayed {
			t.Errorf("call %d: want replayed %t and ran %t, got %+v", i, replayed, !replayed, e)
		}
	}
	// From JSON it is the same call: defaults are the same input.
	if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); got != `{"text":"a 1"} replayed` {
		t.Errorf("want the answer repeated, got %s", got)
	}
}

// What a ledger keeps says nothing, opens for one call only, and not for another
// process without the same keys.
func TestT21_OutcomesAreSealed(t *testing.T) {
	t.Parallel()
	ledger, c := &ledgerCalls{Ledger: memory()}, &counted{}
	forger := &forger{Ledger: ledger}
	app := newApp(ambit.Options{Ledger: forger}, ambit.Define(writeSpec("change"), c.run))
	invoke(app, writer, "change", `{"text":"canary"}`, "k1")
	invoke(app, writer, "change", `{"text":"canary","times":2}`, "k2")
	for _, kept := range ledger.kept {
		if bytes.Contains(kept, []byte("canary")) {
			t.Error("an outcome is kept in clear")
		}
	}
	another := newApp(ambit.Options{Ledger: ledger}, ambit.Define(writeSpec("change"), c.run))
	if got := invoke(another, writer, "change", `{"text":"canary"}`, "k1"); !strings.Contains(got, "was not kept") {
		t.Errorf("in another process: want no answer, got %s", got)
	}
	forger.outcome = ledger.kept[1]
	if got := invoke(app, writer, "change", `{"text":"canary"}`, "k1"); !strings.Contains(got, "was not kept") {
		t.Errorf("the outcome of another call: want no answer, got %s", got)
	}
	if c.runs.Load() != 2 {
		t.Errorf("want two runs, got %d", c.runs.Load())
	}
	keys := newRing()
	for _, want := range []string{`{"text":"canary 3"}`, `{"text":"canary 3"} replayed`} {
		instance := newApp(ambit.Options{Ledger: ledger, Keys: keys}, ambit.Define(writeSpec("change"), c.run))
		if got := invoke(instance, writer, "change", `{"text":"canary"}`, "k3"); got != want {
			t.Errorf("on instances with the same keys: want %s, got %s", want, got)
		}
	}
}

// forger puts an outcome into records once it has one.
type forger struct {
	ambit.Ledger
	outcome []byte
}

func (f *forger) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	record, err := f.Ledger.Find(ctx, c)
	if f.outcome != nil {
		record.Outcome = f.outcome
	}
	return record, err
}

// Keys that a handler gives are its own: a client cannot occupy them.
func TestT21_KeysOfHandlers(t *testing.T) {
	t.Parallel()
	inner := ambit.NewContract[echoInput, echoOutput](writeSpec("inner"))
	c := &counted{}
	var keys []string
	fail := true
	app := newApp(ambit.Options{Ledger: memory()}, inner.Bind(c.run),
		ambit.Define(writeSpec("outer"), func(ctx context.Context, in echoInput) (echoOutput, error) {
			key := ambit.FromContext(ctx).IdempotencyKey()
			keys = append(keys, key)
			out, err := inner.Call(ctx, in, ambit.WithIdempotencyKey(key+"-inner"))
			if err == nil && fail {
				fail = false
				err = ambit.Errorf(ambit.CodeConflict, "Failed behind the inner call.")
			}
			return out, err
		}))
	if got := invoke(app, writer, "inner", `{"text":"taken"}`, "k-inner"); got != `{"text":"taken 1"}` {
		t.Fatal(got)
	}
	for _, want := range []string{"Failed behind", `{"text":"a 2"}`, `{"text":"a 2"} replayed`} {
		if got := invoke(app, writer, "outer", `{"text":"a"}`, "k"); !strings.Contains(got, want) {
			t.Errorf("want %s, got %s", want, got)
		}
	}
	if diff := cmp.Diff([]string{"k", "k"}, keys); diff != "" || c.runs.Load() != 2 {
		t.Errorf("want the key in the handler and the inner call run once for it, got %d runs (-want +got):\n%s", c.runs.Load(), diff)
	}
}

// oneWay marshals what it cannot read back.
type oneWay struct{ V string }

func (o oneWay) MarshalJSON() ([]byte, error) { return json.Marshal(o.V) }

func (o *oneWay) UnmarshalJSON([]byte) error { return errors.New("never") }

func TestT21_OutputThatCannotBeReadBack(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{Ledger: memory()}, ambit.Define(writeSpec("change"), func(context.Context, ambit.Empty) (oneWay, error) {
		return oneWay{"a"}, nil
	}))
	if got := invoke(app, writer, "change", `{}`, "k"); got != `"a"` {
		t.Fatal(got)
	}
	if got := invoke(app, writer, "change", `{}`, "k"); !strings.Contains(got, `"code":"invalid_output"`) || !strings.Contains(got, `"executed":"yes"`) {
		t.Errorf("want invalid_output, executed, got %s", got)
	}
	ctx, _ := begin(t, app, writer, ambit.InProcess)
	_, err := ambit.NewContract[ambit.Empty, oneWay](writeSpec("change")).Call(ctx, ambit.Empty{}, ambit.WithIdempotencyKey("k"))
	if e := failure(t, err); e.Code != ambit.CodeInvalidOutput || e.Executed != ambit.ExecutedYes {
		t.Errorf("a typed call: want invalid_output, executed, got %v", e)
	}
	if key := (*ambit.Call)(nil).IdempotencyKey(); key != "" {
		t.Errorf("outside a call: want no key, got %s", key)
	}
}

func TestLedgerThatIsNotReady(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{Ledger: idempotency.NewMemory(idempotency.Options{Bytes: -1})})
	if err := app.Freeze(); err == nil || !strings.Contains(err.Error(), "Options.Ledger: idempotency") {
		t.Errorf("want the ledger's fault, got %v", err)
	}
	app = newApp(ambit.Options{Ledger: memory()})
	if got := app.Notices(); len(got) != 1 || !strings.Contains(got[0], "this process only") {
		t.Errorf("want the ledger's notice, got %q", got)
	}
	if got := newApp(ambit.Options{}).Notices(); got != nil {
		t.Errorf("want no notice, got %q", got)
	}
}
