package ambit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

type transferInput struct {
	To     string          `json:"to" default:"savings" minLength:"1"`
	Amount int64           `json:"amount"`
	Note   json.RawMessage `json:"note,omitempty"`
	hidden string
}

// The handler gets what the digest is of, and nothing beside it.
func TestT15_HandlerGetsTheCanonicalInput(t *testing.T) {
	t.Parallel()
	var got transferInput
	transfer := ambit.NewContract[transferInput, ambit.Empty](writeSpec("transfer"))
	raw := ambit.NewRawContract(writeSpec("raw"), `{"type":"object","properties":{"n":{"type":"integer"},"f":{"type":"number","default":0.5}}}`, `{"type":"object"}`)
	var rawGot string
	app := newApp(ambit.Options{Ledger: memory()},
		transfer.Bind(func(_ context.Context, in transferInput) (ambit.Empty, error) { got = in; return ambit.Empty{}, nil }),
		raw.Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
			rawGot = string(in)
			return in, nil
		}))

	invoke(app, writer, "transfer", `{ "note": {"b": 1.0, "a": "\u0041"}, "amount": 9007199254740993.0 }`, "k1")
	want := transferInput{To: "savings", Amount: 9007199254740993, Note: json.RawMessage(`{"a":"A","b":1}`)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(transferInput{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, _ := begin(t, app, writer, ambit.InProcess)
	if _, err := transfer.Call(ctx, transferInput{Amount: 2, hidden: "not of the contract"}, ambit.WithIdempotencyKey("k2")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(transferInput{To: "savings", Amount: 2}, got, cmp.AllowUnexported(transferInput{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	invoke(app, writer, "raw", `{ "n": 1e2 }`, "k3")
	if want := `{"f":0.5,"n":100}`; rawGot != want {
		t.Errorf("want %s, got %s", want, rawGot)
	}
	if got := invoke(app, writer, "raw", `{"n": 1e300}`, "k4"); !strings.Contains(got, `"pointer":"/n"`) {
		t.Errorf("want a fault at /n, got %s", got)
	}
}

// A number reaches the handler as it was sent or not at all.
func TestT15_NumbersAreNotAltered(t *testing.T) {
	t.Parallel()
	const code = `"rule":"precision"`
	for _, test := range []struct {
		name, input, key string
		want             string // what the handler got; "": a fault of the rule precision
	}{
		{"whole and beyond 2^53", `{"id":9007199254740993}`, "k", ""},
		{"whole and exact", `{"id":9007199254740992}`, "k", `{"id":9007199254740992}`},
		{"too precise", `{"a":[0.1,0.10000000000000000555]}`, "k", ""},
		{"precise enough", `{"a":[0.1,2.50]}`, "k", `{"a":[0.1,2.5]}`},
		{"without a key it is sent on as it came", `{"id":9007199254740993}`, "", `{"id":9007199254740993}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			app := newApp(ambit.Options{Ledger: memory()}, ambit.NewRawContract(writeSpec("raw"), `{"type":"object"}`, `{"type":"object"}`).Bind(
				func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
					got = string(in)
					return in, nil
				}))
			answer := invoke(app, writer, "raw", test.input, test.key)
			if got != test.want || strings.Contains(answer, code) != (test.want == "") {
				t.Errorf("want the handler to get %q, got %q and the answer %s", test.want, got, answer)
			}
		})
	}
}

// What was mended is what is bound.
func TestT15_RepairedInput(t *testing.T) {
	t.Parallel()
	c := &counted{}
	app := newApp(ambit.Options{Ledger: memory(), Repair: ambit.HTTP}, ambit.Define(writeSpec("change"), c.run))
	for i, input := range []string{`{"text":"a","times":"2"}`, `{"text":"a","times":2}`} {
		if got := invoke(app, writer, "change", input, "k"); !strings.HasPrefix(got, `{"text":"a 1"}`) {
			t.Errorf("call %d: want the first answer, got %s", i, got)
		}
	}
}

func TestT15_DestructiveInputIsBounded(t *testing.T) {
	t.Parallel()
	spec := writeSpec("purge")
	spec.Effect, spec.Expose = ambit.Destructive, ambit.HTTP
	app := newApp(ambit.Options{}, ambit.Define(spec, func(_ context.Context, in transferInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	input := func(size int) string {
		const frame = `{"amount":1,"note":"","to":"a"}`
		return `{"amount":1,"to":"a","note":"` + strings.Repeat("n", size-len(frame)) + `" }`
	}
	for size, want := range map[int]string{
		ambit.MaxDestructiveInput:     `"code":"confirmation_unavailable"`,
		ambit.MaxDestructiveInput + 1: `{"code":"input_too_large","message":"The input has 65537 bytes; at most 65536 are taken for what cannot be undone.","hint":"Do less in one call.","executed":"no"}`,
	} {
		if got := invoke(app, writer, "purge", input(size), ""); !strings.Contains(got, want) {
			t.Errorf("%d bytes: want %s, got %s", size, want, got)
		}
	}
}

// bindings keeps the claims that a ledger is asked for.
type bindings struct {
	ambit.Ledger
	last ambit.Claim
}

func (b *bindings) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	b.last = c
	return b.Ledger.Find(ctx, c)
}

// bindingOf returns the binding of a call.
func bindingOf(s ambit.Spec, p *ambit.Principal, input string) ambit.Binding {
	ledger := &bindings{Ledger: memory()}
	app := newApp(ambit.Options{Ledger: ledger, Approver: refuses{ledger}, Keys: newRing()}, ambit.Define(s, echo))
	invoke(app, p, s.Name, input, "k")
	return ledger.last.Binding
}

func TestT14_WhatIsBound(t *testing.T) {
	t.Parallel()
	spec := func(change func(*ambit.Spec)) ambit.Spec {
		s := writeSpec("change")
		s.Scopes = []string{"a", "b"}
		change(&s)
		return s
	}
	same := func(*ambit.Spec) {}
	who := func(change func(*ambit.Principal)) *ambit.Principal {
		p := *writer
		p.Permissions = []string{"write", "other"}
		change(&p)
		return &p
	}
	me := who(func(*ambit.Principal) {})
	const input = `{"text":"a"}`
	base := bindingOf(spec(same), me, input)
	want := ambit.Binding{Principal: me.Key(), Client: "app", Capability: "change", Contract: base.Contract, Input: base.Input}
	if diff := cmp.Diff(want, base); diff != "" || base.Contract == (ambit.Digest{}) || base.Input == (ambit.Digest{}) {
		t.Errorf("(-want +got):\n%s", diff)
	}
	alike := map[string]ambit.Binding{
		"again":             bindingOf(spec(same), me, `{"times":1,"text":"a"}`),
		"another title":     bindingOf(spec(func(s *ambit.Spec) { s.Title, s.Description = "Other", "Other." }), me, input),
		"order of scopes":   bindingOf(spec(func(s *ambit.Spec) { s.Scopes = []string{"b", "a", "b"} }), me, input),
		"another exposure":  bindingOf(spec(func(s *ambit.Spec) { s.Expose = ambit.HTTP }), me, input),
		"other permissions": bindingOf(spec(same), who(func(p *ambit.Principal) { p.Roles = []string{"admin"} }), input),
	}
	for name, b := range alike {
		if b.Operation() != base.Operation() {
			t.Errorf("%s: want the same operation", name)
		}
	}
	others := map[string]ambit.Binding{
		"name":       bindingOf(spec(func(s *ambit.Spec) { s.Name = "move" }), me, input),
		"effect":     bindingOf(spec(func(s *ambit.Spec) { s.Effect = ambit.External }), me, input),
		"permission": bindingOf(spec(func(s *ambit.Spec) { s.Permission = "other" }), me, input),
		"scopes":     bindingOf(spec(func(s *ambit.Spec) { s.Scopes = []string{"a"} }), me, input),
		"approval":   bindingOf(spec(func(s *ambit.Spec) { s.Approval = ambit.Confirm }), me, input),
		"replay":     bindingOf(spec(func(s *ambit.Spec) { s.Replay = ambit.ReplayReceipt }), me, input),
		"persons":    bindingOf(spec(func(s *ambit.Spec) { s.Approval = ambit.Human }), me, input),
		"quorum":     bindingOf(spec(func(s *ambit.Spec) { s.Approval, s.Quorum = ambit.Human, 2 }), me, input),
		"revision":   bindingOf(spec(func(s *ambit.Spec) { s.Revision = "2" }), me, input),
		"input":      bindingOf(spec(same), me, `{"text":"a","times":2}`),
		"tenant":     bindingOf(spec(same), who(func(p *ambit.Principal) { p.Tenant = "t" }), input),
		"subject":    bindingOf(spec(same), who(func(p *ambit.Principal) { p.Subject = "bob" }), input),
		"client":     bindingOf(spec(same), who(func(p *ambit.Principal) { p.Client = "other" }), input),
	}
	ledger := &bindings{Ledger: memory()}
	raw := newApp(ambit.Options{Ledger: ledger}, ambit.NewRawContract(spec(same), `{"type":"object"}`, `{"type":"object"}`).Bind(
		func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }))
	invoke(raw, me, "change", input, "k")
	others["schemas"] = ledger.last.Binding
	agent := base
	agent.Agent = "https://agent.example"
	others["agent"] = agent
	seen := map[ambit.Digest]string{base.Operation(): "base"}
	for name, b := range others {
		if known, ok := seen[b.Operation()]; ok {
			t.Errorf("%s: want another operation than that of %s", name, known)
		}
		seen[b.Operation()] = name
	}
}
