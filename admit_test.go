package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
)

// list returns the names that a run's principal is shown.
func list(ctx context.Context, app *ambit.App, run *ambit.Run, limit int) ([]string, error) {
	catalog, err := app.Catalog(run.Surface(), func(c ambit.AnyContract) ([]byte, error) {
		if run.Surface() == ambit.MCP {
			return json.Marshal(c.ToolName())
		}
		return json.Marshal(c.Name())
	})
	if err != nil {
		return nil, err
	}
	names := []string{}
	cursor := ""
	for {
		page, next, err := catalog.Page(ctx, run, []byte{'['}, cursor, limit)
		if err != nil {
			return nil, err
		}
		var some []string
		if err := json.Unmarshal(append(page, ']'), &some); err != nil {
			return nil, err
		}
		if len(some) > limit || next != "" && len(some) != limit {
			return nil, fmt.Errorf("a page of %d has %d entries, next %q", limit, len(some), next)
		}
		names = append(names, some...)
		if next == "" {
			return names, nil
		}
		cursor = next
	}
}

var hiding = []ambit.Code{
	ambit.CodeNotFound, ambit.CodeUnauthenticated, ambit.CodeForbidden, ambit.CodeInsufficientScope, ambit.CodeAgentRequired,
}

// For any application, principal and policy, what is listed is what can be
// called, on every surface.
func TestT08_ListedIsCallable(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfDistinct(rapid.SampledFrom(words), rapid.ID)
		options := ambit.Options{HideForbidden: rapid.Bool().Draw(t, "hide")}
		if rapid.Bool().Draw(t, "policy") {
			granted := some.Draw(t, "granted")
			options.Policy = ambit.PolicyFunc(func(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
				return slices.Contains(granted, permission) && p.Kind != ambit.KindAgent, nil
			})
		}
		if rapid.Bool().Draw(t, "authorize") {
			refused := some.Draw(t, "refused")
			options.Authorize = func(_ context.Context, c ambit.AnyContract, _ *ambit.Principal) string {
				if slices.Contains(refused, c.Name()[:1]) {
					return "Not this one."
				}
				return ""
			}
		}
		app := newApp(options)
		for i := range rapid.IntRange(1, 8).Draw(t, "capabilities") {
			spec := ambit.Spec{
				Name: fmt.Sprintf("%s.n%d", rapid.SampledFrom(words).Draw(t, "name"), i), Description: "Test.",
				Effect:     rapid.SampledFrom([]ambit.Effect{ambit.Read, ambit.Write, ambit.External}).Draw(t, "effect"),
				Permission: rapid.SampledFrom(append([]string{ambit.Public, ambit.Authenticated}, words...)).Draw(t, "permission"),
				Expose:     rapid.SampledFrom([]ambit.Surface{0, ambit.HTTP, ambit.MCP, ambit.HTTP | ambit.MCP}).Draw(t, "expose"),
				Callers:    rapid.SampledFrom([][]ambit.Kind{nil, {ambit.KindUser}, {ambit.KindAgent, ambit.KindAnonymous}}).Draw(t, "callers"),
				Scopes:     some.Draw(t, "scopes"),
			}
			app.Add(ambit.Define(spec, echo))
		}
		principal := &ambit.Principal{
			Kind: rapid.SampledFrom([]ambit.Kind{ambit.KindUser, ambit.KindAgent, ambit.KindAnonymous}).Draw(t, "kind"),
		}
		if !principal.Anonymous() {
			principal.Subject, principal.Permissions = "p", some.Draw(t, "permissions")
		}
		principal.Scopes, principal.Unscoped = some.Draw(t, "held scopes"), rapid.Bool().Draw(t, "unscoped")
		surface := rapid.SampledFrom([]ambit.Surface{ambit.InProcess, ambit.CommandLine, ambit.HTTP, ambit.MCP}).Draw(t, "surface")

		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: principal, Surface: surface})
		defer run.End()
		listed, err := list(ctx, app, run, rapid.IntRange(1, 4).Draw(t, "limit"))
		if err != nil {
			t.Fatal(err)
		}
		callable := []string{}
		for _, c := range app.Capabilities() {
			name := c.Name()
			if surface == ambit.MCP {
				name = c.ToolName()
			}
			_, callErr := run.Invoke(ctx, ambit.Request{Name: name})
			admitErr := run.Admit(ctx, name)
			if hidden := slices.Contains(hiding, ambit.CodeOf(callErr)); hidden != (admitErr != nil) {
				t.Fatalf("%s: Admit says %v, the call %v", name, admitErr, callErr)
			} else if !hidden {
				callable = append(callable, name)
			}
		}
		if diff := cmp.Diff(callable, listed); diff != "" {
			t.Fatalf("callable and listed differ (-callable +listed):\n%s", diff)
		}
	})
}

// A name that is not for this surface answers as one that does not exist.
func TestT07_UnexposedIsUnknown(t *testing.T) {
	t.Parallel()
	hidden, other := echoSpec(), echoSpec()
	hidden.Name, hidden.Expose = "secret.plan", ambit.MCP
	app := newApp(ambit.Options{}, ambit.Define(hidden, echo), ambit.Define(other, echo))
	for _, principal := range []*ambit.Principal{alice, anonymous, {Subject: "bob"}} {
		ctx, run := begin(t, app, principal, ambit.HTTP)
		answer := func(name string) string {
			_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"no`)})
			text, marshalErr := json.Marshal(failure(t, err))
			if marshalErr != nil {
				t.Fatal(marshalErr)
			}
			return strings.ReplaceAll(string(text), name, "NAME")
		}
		if diff := cmp.Diff(answer("secret.plot"), answer("secret.plan")); diff != "" {
			t.Errorf("%s (-unknown +not exposed):\n%s", principal.Key(), diff)
		}
	}
}

// Where a missing permission hides a capability, it hides what else would refuse
// the call as well: whoever lacks it gets the answer for a name that is none.
func TestT07_HiddenWhateverElseRefuses(t *testing.T) {
	t.Parallel()
	for name, restrict := range map[string]func(*ambit.Spec, *ambit.Options){
		"nothing":           func(*ambit.Spec, *ambit.Options) {},
		"another kind only": func(s *ambit.Spec, _ *ambit.Options) { s.Callers = []ambit.Kind{ambit.KindService} },
		"scopes":            func(s *ambit.Spec, _ *ambit.Options) { s.Scopes = []string{"echo.say"} },
		"the Authorize hook": func(_ *ambit.Spec, o *ambit.Options) {
			o.Authorize = func(context.Context, ambit.AnyContract, *ambit.Principal) string { return "No." }
		},
		"a rate of its own": func(s *ambit.Spec, _ *ambit.Options) { s.Rate = aMinute(1, 1) },
		"another kind, write": func(s *ambit.Spec, _ *ambit.Options) {
			s.Callers, s.Effect = []ambit.Kind{ambit.KindAgent}, ambit.Write
		},
	} {
		spec, options := echoSpec(), ambit.Options{HideForbidden: true}
		spec.Permission = "secret:thing"
		restrict(&spec, &options)
		app := newApp(options, ambit.Define(spec, echo))
		ctx, run := begin(t, app, &ambit.Principal{Subject: "p"}, ambit.MCP)
		answer := func(name string) string {
			_, err := run.Invoke(ctx, ambit.Request{Name: name})
			text, marshalErr := json.Marshal(failure(t, err))
			if marshalErr != nil {
				t.Fatal(marshalErr)
			}
			return strings.ReplaceAll(string(text), name, "NAME")
		}
		if diff := cmp.Diff(answer("ecxo"), answer("echo")); diff != "" {
			t.Errorf("%s (-unknown +hidden):\n%s", name, diff)
		}
	}
}

// Permission is decided before scopes, so that nobody is stepped up in vain and
// no stranger learns them.
func TestT06_PermissionBeforeScope(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.Scopes = []string{"echo.say", "echo.loud"}
	app := newApp(ambit.Options{}, ambit.Define(spec, echo))
	for _, test := range []struct {
		name      string
		principal ambit.Principal
		want      ambit.Code
	}{
		{"neither", ambit.Principal{Subject: "p"}, ambit.CodeForbidden},
		{"permission only", ambit.Principal{Subject: "p", Permissions: []string{"echo"}}, ambit.CodeInsufficientScope},
		{"one scope of two", ambit.Principal{Subject: "p", Permissions: []string{"echo"}, Scopes: []string{"echo.say"}}, ambit.CodeInsufficientScope},
		{"both", ambit.Principal{Subject: "p", Permissions: []string{"echo"}, Scopes: []string{"echo.loud", "echo.say"}}, ""},
		{"unscoped", ambit.Principal{Subject: "p", Permissions: []string{"echo"}, Unscoped: true}, ""},
	} {
		ctx, run := begin(t, app, &test.principal, ambit.HTTP)
		err := run.Admit(ctx, "echo")
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
		if test.want == ambit.CodeInsufficientScope {
			if diff := cmp.Diff(spec.Scopes, failure(t, err).Scopes); diff != "" {
				t.Errorf("%s: scopes (-want +got):\n%s", test.name, diff)
			}
		}
	}
}

// A policy that fails or panics refuses, for calls and listings alike.
func TestPolicyFailsClosed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy ambit.PolicyFunc
		want   ambit.Code
	}{
		"error": {func(context.Context, *ambit.Principal, string) (bool, error) { return true, errors.New("no database") }, ambit.CodeUnavailable},
		"panic": {func(context.Context, *ambit.Principal, string) (bool, error) { panic("oh") }, ambit.CodeInternal},
	} {
		app := newApp(ambit.Options{Policy: test.policy}, ambit.Define(echoSpec(), echo))
		ctx, run := begin(t, app, alice, ambit.HTTP)
		_, callErr := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
		_, listErr := list(ctx, app, run, 10)
		if got := ambit.CodeOf(callErr); got != test.want {
			t.Errorf("%s: call: want %q, got %q", name, test.want, got)
		}
		if got := ambit.CodeOf(listErr); got != test.want {
			t.Errorf("%s: listing: want %q, got %q", name, test.want, got)
		}
	}
}

// A cursor is good for the list, the surface and the principal that it was
// given to, and tells nothing.
func TestT24_CursorIsSealed(t *testing.T) {
	t.Parallel()
	a, b := echoSpec(), echoSpec()
	a.Name, b.Name = "hidden.one", "shown"
	app := newApp(ambit.Options{}, ambit.Define(a, echo), ambit.Define(b, echo))
	catalog, err := app.Catalog(ambit.HTTP, func(c ambit.AnyContract) ([]byte, error) { return []byte(c.Name()), nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, run := begin(t, app, alice, ambit.HTTP)
	_, next, err := catalog.Page(ctx, run, nil, "", 1)
	if err != nil || next == "" {
		t.Fatalf("want a next page, got %q, %v", next, err)
	}
	carolCtx, carol := begin(t, app, &ambit.Principal{Subject: "carol", Permissions: []string{"echo"}}, ambit.HTTP)
	for name, try := range map[string]func() error{
		"altered":           func() error { _, _, err := catalog.Page(ctx, run, nil, "A"+next[1:], 1); return err },
		"made up":           func() error { _, _, err := catalog.Page(ctx, run, nil, "!", 1); return err },
		"another principal": func() error { _, _, err := catalog.Page(carolCtx, carol, nil, next, 1); return err },
	} {
		if err := try(); ambit.CodeOf(err) != ambit.CodeInvalidInput && next[0] != 'A' {
			t.Errorf("%s: want invalid_input, got %v", name, err)
		}
	}
	page, next, err := catalog.Page(ctx, run, nil, next, 1)
	if got := string(page); got != "shown" || next != "" || err != nil {
		t.Errorf("second page: want shown, got %q, next %q, %v", got, next, err)
	}
}

func TestT01_PrincipalKeyIsInjective(t *testing.T) {
	t.Parallel()
	part := rapid.StringMatching(`[a1:/]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *ambit.Principal {
			return &ambit.Principal{Tenant: part.Draw(t, name), Authority: part.Draw(t, name), Subject: part.Draw(t, name)}
		}
		a, b := draw("a"), draw("b")
		same := a.Tenant == b.Tenant && a.Authority == b.Authority && a.Subject == b.Subject
		if got := a.Key() == b.Key(); got != same {
			t.Fatalf("keys of %+v and %+v: want equal %v, got %v", a, b, same, got)
		}
	})
}

// A tenant is a name that every store keeps and finds things by. Whoever is of none
// that can be is refused before anything is written about them.
func TestT01_TenantsThatCanBe(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
	for tenant, want := range map[string]ambit.Code{
		"": "", "acme": "", "Müller & Söhne": "", strings.Repeat("é", 127) + "e": "",
		strings.Repeat("a", 256): ambit.CodeUnauthenticated, "a\x00": ambit.CodeUnauthenticated, "a\nb": ambit.CodeUnauthenticated, "\xff": ambit.CodeUnauthenticated,
	} {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Tenant: tenant, Subject: "p", Permissions: []string{"echo"}}})
		if _, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)}); ambit.CodeOf(err) != want {
			t.Errorf("tenant %.20q: want %q, got %v", tenant, want, err)
		}
		run.End()
	}
}

// Handlers and middleware get copies: nothing that they do to a principal
// changes what the next call may do.
func TestPrincipalIsACopy(t *testing.T) {
	t.Parallel()
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{}, contract.Bind(func(ctx context.Context, in echoInput) (echoOutput, error) {
		p := ambit.FromContext(ctx).Principal()
		p.Subject, p.Permissions[0] = "root", "nothing"
		return echo(ctx, in)
	}))
	ctx, run := begin(t, app, &ambit.Principal{Subject: "p", Permissions: []string{"echo"}}, ambit.InProcess)
	for range 2 {
		if _, err := contract.Call(ctx, echoInput{Text: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := run.Principal().Subject; got != "p" {
		t.Errorf("subject: want p, got %s", got)
	}
}
