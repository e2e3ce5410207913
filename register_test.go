package ambit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
)

// Every mistake in a contract stops the program where the capability is added,
// and the message says what to do.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	with := func(change func(*ambit.Spec)) func(*ambit.App) {
		return func(app *ambit.App) {
			spec := echoSpec()
			change(&spec)
			app.Add(ambit.Define(spec, echo))
		}
	}
	pass := func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) { return next(ctx) }
	type secretive struct {
		Password string `json:"password" secret:"true"`
	}
	tests := []struct {
		name string
		add  func(*ambit.App)
	}{
		{"no name", with(func(s *ambit.Spec) { s.Name = "" })},
		{"long name", with(func(s *ambit.Spec) { s.Name = strings.Repeat("a", 65) })},
		{"upper case", with(func(s *ambit.Spec) { s.Name = "Notes.search" })},
		{"empty segment", with(func(s *ambit.Spec) { s.Name = "notes..search" })},
		{"leading digit", with(func(s *ambit.Spec) { s.Name = "notes.2" })},
		{"no description", with(func(s *ambit.Spec) { s.Description = " " })},
		{"no effect", with(func(s *ambit.Spec) { s.Effect = 0 })},
		{"no permission", with(func(s *ambit.Spec) { s.Permission = "" })},
		{"reserved permission", with(func(s *ambit.Spec) { s.Permission = "ambit:admin" })},
		{"exposed on the command line", with(func(s *ambit.Spec) { s.Expose = ambit.CommandLine })},
		{"page tool without HTTP", with(func(s *ambit.Spec) { s.Expose = ambit.WebMCP })},
		{"destructive page tool", with(func(s *ambit.Spec) { s.Expose, s.Effect = ambit.WebMCP|ambit.HTTP, ambit.Destructive })},
		{"page tool that takes a person", with(func(s *ambit.Spec) { s.Expose, s.Approval = ambit.WebMCP|ambit.HTTP, ambit.Human })},
		{"unknown approval", with(func(s *ambit.Spec) { s.Approval = 9 })},
		{"negative quorum", with(func(s *ambit.Spec) { s.Quorum = -1 })},
		{"crowd of deciders", with(func(s *ambit.Spec) { s.Approval, s.Quorum = ambit.Human, 11 })},
		{"quorum of nobody", with(func(s *ambit.Spec) { s.Quorum = 2 })},
		{"quorum for who confirms", with(func(s *ambit.Spec) { s.Effect, s.Approval, s.Quorum = ambit.Destructive, ambit.Confirm, 1 })},
		{"negative window", with(func(s *ambit.Spec) { s.DecideWithin = -1 })},
		{"anybody decides", with(func(s *ambit.Spec) { s.DecidePermission = ambit.Public })},
		{"unknown replay", with(func(s *ambit.Spec) { s.Replay = 2 })},
		{"receipts of a read that nobody keeps", with(func(s *ambit.Spec) { s.Replay = ambit.ReplayReceipt })},
		{"unknown kind", with(func(s *ambit.Spec) { s.Callers = []ambit.Kind{9} })},
		{"scope with a space", with(func(s *ambit.Spec) { s.Scopes = []string{"a b"} })},
		{"path with a dot segment", with(func(s *ambit.Spec) { s.Path = "a/../b" })},
		{"path with a query", with(func(s *ambit.Spec) { s.Path = "a?b" })},
		{"path with an empty segment", with(func(s *ambit.Spec) { s.Path = "a//b" })},
		{"negative deadline", with(func(s *ambit.Spec) { s.Deadline = -1 })},
		{"example without a title", with(func(s *ambit.Spec) { s.Examples = []ambit.Example{{Input: `{"text":"x"}`}, {Input: `[]`}} })},
		{"example that is no input", with(func(s *ambit.Spec) { s.Examples = []ambit.Example{{Title: "none", Input: `{}`}} })},
		{"same name twice", func(app *ambit.App) { app.Add(ambit.Define(echoSpec(), echo), ambit.Define(echoSpec(), echo)) }},
		{"same tool name", func(app *ambit.App) {
			a, b := echoSpec(), echoSpec()
			a.Name, b.Name = "a.b_c", "a_b.c"
			app.Add(ambit.Define(a, echo), ambit.Define(b, echo))
		}},
		{"no handler", func(app *ambit.App) { app.Add(ambit.Define[echoInput, echoOutput](echoSpec(), nil)) }},
		{"nil capability", func(app *ambit.App) { app.Add(nil) }},
		{"input that is no object", func(app *ambit.App) {
			app.Add(ambit.Define(echoSpec(), func(context.Context, string) (echoOutput, error) { return echoOutput{}, nil }))
		}},
		{"secret in the output", func(app *ambit.App) {
			app.Add(ambit.Define(echoSpec(), func(context.Context, ambit.Empty) (secretive, error) { return secretive{}, nil }))
		}},
		{"example with a secret", func(app *ambit.App) {
			spec := echoSpec()
			spec.Examples = []ambit.Example{{Title: "in", Input: `{"password":"x"}`}}
			app.Add(ambit.Define(spec, func(context.Context, secretive) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		}},
		{"raw schema that is none", func(app *ambit.App) {
			app.Add(ambit.NewRawContract(echoSpec(), `{"type":"objekt"}`, `{}`).Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
				return in, nil
			}))
		}},
		{"middleware without a name", func(app *ambit.App) {
			app.Add(ambit.Define(echoSpec(), echo).WithMiddleware(ambit.Middleware{Wrap: pass}))
		}},
		{"middleware without a function", func(app *ambit.App) {
			app.Add(ambit.Define(echoSpec(), echo).WithMiddleware(ambit.Middleware{Name: "m"}))
		}},
		{"middleware twice", func(app *ambit.App) {
			m := ambit.Middleware{Name: "m", Wrap: pass}
			app.Add(ambit.Define(echoSpec(), echo).WithMiddleware(m, m))
		}},
		{"after freezing", func(app *ambit.App) { _ = app.Freeze(); app.Add(ambit.Define(echoSpec(), echo)) }},
	}
	var got strings.Builder
	for _, test := range tests {
		fmt.Fprintf(&got, "%s\n\t%s\n", test.name, panicText(func() { test.add(newApp(ambit.Options{})) }))
	}
	golden(t, "add_refuses.txt", got.String())
}

// panicText returns what f panics with, or "no panic".
func panicText(f func()) (text string) {
	text = "no panic"
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return text
}

// What needs the whole application is an error of Freeze, and an application
// that may not start answers no call.
func TestFreezeRefuses(t *testing.T) {
	t.Parallel()
	destructive, human, foureyes := echoSpec(), echoSpec(), echoSpec()
	destructive.Effect = ambit.Destructive
	human.Approval, foureyes.Approval = ambit.Human, ambit.FourEyes
	approver := refuses{memory()}
	var got strings.Builder
	for _, test := range []struct {
		name    string
		options ambit.Options
		spec    ambit.Spec
	}{
		{"no name", ambit.Options{Name: " "}, echoSpec()},
		{"negative bounds", ambit.Options{MaxInput: -1, MaxResult: -1, MaxDepth: -1, Deadline: -1}, echoSpec()},
		{"middleware without a name", ambit.Options{Middleware: []ambit.Middleware{{}}}, ambit.Spec{}},
		{"nil observer", ambit.Options{Observers: []ambit.Observer{nil}}, echoSpec()},
		{"destructive on MCP", ambit.Options{Approver: approver, Keys: newRing()}, destructive},
		{"destructive on MCP, by the application's wish", ambit.Options{DestructiveOverMCP: true}, destructive},
		{"destructive on MCP, without keys", ambit.Options{DestructiveOverMCP: true, Approver: approver}, destructive},
		{"a person's approval", ambit.Options{Keys: newRing()}, human},
		{"another pair of eyes", ambit.Options{Approver: approver}, foureyes},
		{"an approver without a ledger", ambit.Options{Approver: refuses{}}, echoSpec()},
		{"another ledger", ambit.Options{Approver: approver, Ledger: memory()}, echoSpec()},
		{"anybody decides", ambit.Options{DecidePermission: ambit.Public}, echoSpec()},
		{"windows", ambit.Options{ConfirmWithin: -1, DecideWithin: -1, ExecuteWithin: -1}, echoSpec()},
	} {
		var capabilities []ambit.AnyCapability
		if test.spec.Name != "" {
			capabilities = append(capabilities, ambit.Define(test.spec, echo))
		}
		app := newApp(test.options, capabilities...)
		err := app.Freeze()
		fmt.Fprintf(&got, "%s\n\t%v\n", test.name, err)
		if again := app.Freeze(); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: Freeze said %v, then %v", test.name, err, again)
		}
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice})
		if _, callErr := run.Invoke(ctx, ambit.Request{Name: "echo"}); ambit.CodeOf(callErr) != ambit.CodeUnavailable {
			t.Errorf("%s: a call to an application that may not start: want unavailable, got %v", test.name, callErr)
		}
		run.End()
	}
	golden(t, "freeze_refuses.txt", got.String())
}
