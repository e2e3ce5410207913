package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
)

// inside runs do within a call of a capability "outer" of the given effect.
func inside(t *testing.T, o ambit.Options, run ambit.RunOptions, effect ambit.Effect, do func(context.Context, *ambit.App), more ...ambit.AnyCapability) error {
	t.Helper()
	var app *ambit.App
	spec := ambit.Spec{Name: "outer", Description: "Test.", Effect: effect, Permission: ambit.Authenticated, Expose: ambit.HTTP | ambit.Assistant}
	app = newApp(o, append(more, ambit.Define(spec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		do(ctx, app)
		return ambit.Empty{}, nil
	}))...)
	if run.Principal == nil {
		run.Principal = alice
	}
	ctx, r := app.NewRun(t.Context(), run)
	defer r.End()
	_, err := r.Invoke(ctx, ambit.Request{Name: "outer"})
	return err
}

// invokeEcho calls echo in a run and returns the code.
func invokeEcho(ctx context.Context, run *ambit.Run) ambit.Code {
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
	return ambit.CodeOf(err)
}

func TestRunWithinRun(t *testing.T) {
	t.Parallel()
	mail := echoSpec()
	mail.Effect, mail.Expose = ambit.External, ambit.HTTP
	seen := &records{}
	err := inside(t, ambit.Options{Observers: []ambit.Observer{seen}}, ambit.RunOptions{Surface: ambit.HTTP, Request: "r1"}, ambit.External,
		func(ctx context.Context, app *ambit.App) {
			for _, test := range []struct {
				name string
				o    ambit.RunOptions
				mode ambit.Mode
				want ambit.Code
			}{
				{"as it is", ambit.RunOptions{}, ambit.ModeAuto, ""},
				{"the same principal, named", ambit.RunOptions{Principal: alice}, ambit.ModeAuto, ""},
				{"another principal", ambit.RunOptions{Principal: &ambit.Principal{Subject: "root", Permissions: []string{"echo"}}}, ambit.ModePlan, ambit.CodeForbidden},
				{"stricter", ambit.RunOptions{Mode: ambit.ModePlan}, ambit.ModePlan, ambit.CodeBlockedInPlanMode},
				{"an assistant, where it is not exposed", ambit.RunOptions{Surface: ambit.Assistant}, ambit.ModeDefault, ambit.CodeNotFound},
				{"a sandbox inherits the mode", ambit.RunOptions{Surface: ambit.Sandbox}, ambit.ModeAuto, ambit.CodeNotFound},
			} {
				innerCtx, run := app.NewRun(ctx, test.o)
				if got := run.Mode(); got != test.mode {
					t.Errorf("%s: want mode %s, got %s", test.name, test.mode, got)
				}
				if got := invokeEcho(innerCtx, run); got != test.want {
					t.Errorf("%s: want %q, got %q", test.name, test.want, got)
				}
				run.End()
			}
		}, ambit.Define(mail, echo))
	if err != nil {
		t.Fatal(err)
	}
	event := seen.finished[0]
	if event.Request != "r1" || event.Parent == 0 || event.Via != ambit.HTTP || event.Run == seen.last(t).Run {
		t.Errorf("the record of the inner run does not name its cause: %+v", event)
	}
}

// A change of mode reaches every run of the family, under way or not.
func TestSetModeReachesAll(t *testing.T) {
	t.Parallel()
	write := echoSpec()
	write.Effect = ambit.Write
	err := inside(t, ambit.Options{}, ambit.RunOptions{}, ambit.Write, func(ctx context.Context, app *ambit.App) {
		innerCtx, run := app.NewRun(ctx, ambit.RunOptions{})
		defer run.End()
		ambit.RunFromContext(ctx).SetMode(ambit.ModePlan)
		if got := invokeEcho(innerCtx, run); got != ambit.CodeBlockedInPlanMode {
			t.Errorf("inner run: want blocked_in_plan_mode, got %q", got)
		}
		run.SetMode(ambit.ModeAuto)
		if got := ambit.RunFromContext(ctx).Mode(); got != ambit.ModeAuto {
			t.Errorf("outer run: want auto, got %s", got)
		}
		run.SetMode(ambit.ModeUnset)
		if got := ambit.RunFromContext(ctx).Mode(); got != ambit.ModePlan {
			t.Errorf("no mode at all: want plan, got %s", got)
		}
	}, ambit.Define(write, echo))
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunDepth(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{0: ambit.MaxRunDepth, 1: 1} {
		err := inside(t, ambit.Options{MaxRunDepth: limit}, ambit.RunOptions{}, ambit.Write, func(ctx context.Context, app *ambit.App) {
			depth := 0
			for {
				inner, run := app.NewRun(ctx, ambit.RunOptions{})
				defer run.End()
				if run.Err() != nil {
					if got := ambit.CodeOf(run.Err()); got != ambit.CodeBudgetExhausted || depth != want {
						t.Errorf("limit %d: want budget_exhausted at depth %d, got %q at %d", limit, want, got, depth)
					}
					return
				}
				ctx, depth = inner, depth+1
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
		begin := func(ctx context.Context, b ambit.Budget) (context.Context, *ambit.Run) {
			ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: alice, Budget: b})
			if run.Err() != nil {
				t.Fatal(run.Err())
			}
			return ctx, run
		}
		check := func(name string, want, got ambit.Code) {
			t.Helper()
			if got != want {
				t.Errorf("%s: want %q, got %q", name, want, got)
			}
		}
		ctx, run := begin(context.Background(), ambit.Budget{Calls: 3, Units: map[string]float64{"tokens": 10}})
		innerCtx, inner := begin(ctx, ambit.Budget{Calls: 2})
		check("first", "", invokeEcho(innerCtx, inner))
		check("second", "", invokeEcho(innerCtx, inner))
		check("inner budget", ambit.CodeBudgetExhausted, invokeEcho(innerCtx, inner))
		check("the outer one has one left", "", invokeEcho(ctx, run))
		check("outer budget", ambit.CodeBudgetExhausted, invokeEcho(ctx, run))

		check("tokens", "", ambit.CodeOf(inner.Spend("tokens", 6)))
		check("more than is left", ambit.CodeBudgetExhausted, ambit.CodeOf(run.Spend("tokens", 5)))
		check("what is left", "", ambit.CodeOf(run.Spend("tokens", 4)))
		check("a unit without a limit", "", ambit.CodeOf(run.Spend("cents", 1e9)))
		check("a negative amount", ambit.CodeInternal, ambit.CodeOf(run.Spend("tokens", -1)))
		inner.End()
		run.End()

		ctx, run = begin(context.Background(), ambit.Budget{Wall: time.Minute})
		check("in time", "", invokeEcho(ctx, run))
		<-time.After(time.Minute)
		check("too late", ambit.CodeBudgetExhausted, invokeEcho(ctx, run))
		run.End()
	})
}

type delegating struct{ ambit.PolicyFunc }

func (delegating) AllowDelegate(_ context.Context, capability string, from, to *ambit.Principal) (bool, error) {
	switch to.Subject {
	case "broken":
		return true, errors.New("no database")
	case "panic":
		panic("oh")
	}
	return capability == "outer" && from.Subject == "alice" && to.Subject == "system", nil
}

func TestT05_Delegate(t *testing.T) {
	t.Parallel()
	holds := func(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
		return slices.Contains(p.Permissions, permission), nil
	}
	system := &ambit.Principal{Subject: "system", Permissions: []string{"mail"}, Unscoped: true}
	mail := echoSpec()
	mail.Permission, mail.Expose = "mail", 0
	for _, test := range []struct {
		name   string
		policy ambit.Policy
		to     *ambit.Principal
		want   ambit.Code
	}{
		{"allowed", delegating{holds}, system, ""},
		{"the policy says no", delegating{holds}, &ambit.Principal{Subject: "root"}, ambit.CodeForbidden},
		{"the policy fails", delegating{holds}, &ambit.Principal{Subject: "broken"}, ambit.CodeUnavailable},
		{"the policy panics", delegating{holds}, &ambit.Principal{Subject: "panic"}, ambit.CodeInternal},
		{"a policy without delegation", ambit.PolicyFunc(holds), system, ambit.CodeForbidden},
		{"no principal", delegating{holds}, nil, ambit.CodeInternal},
	} {
		seen := &records{}
		err := inside(t, ambit.Options{Policy: test.policy, Observers: []ambit.Observer{seen}}, ambit.RunOptions{}, ambit.Write, func(ctx context.Context, app *ambit.App) {
			innerCtx, run := app.Delegate(ctx, ambit.RunOptions{Principal: test.to})
			defer run.End()
			if got := invokeEcho(innerCtx, run); got != test.want {
				t.Errorf("%s: want %q, got %q", test.name, test.want, got)
			}
		}, ambit.Define(mail, echo))
		if err != nil {
			t.Fatal(err)
		}
		if e := seen.finished[0]; test.want == "" && (e.DelegatedBy != alice.Key() || e.Principal != system.Key()) {
			t.Errorf("%s: the record does not name both: %+v", test.name, e)
		}
	}
	app := newApp(ambit.Options{Policy: delegating{holds}})
	_, run := app.Delegate(t.Context(), ambit.RunOptions{Principal: system})
	if got := ambit.CodeOf(run.Err()); got != ambit.CodeInternal {
		t.Errorf("outside a call: want internal, got %q", got)
	}
}

// The scopes of the credential that caused a delegated call bound it.
func TestT04_DelegationKeepsScopes(t *testing.T) {
	t.Parallel()
	scoped := echoSpec()
	scoped.Scopes = []string{"mail.send"}
	policy := delegating{func(context.Context, *ambit.Principal, string) (bool, error) { return true, nil }}
	for name, test := range map[string]struct {
		scopes []string
		want   ambit.Code
	}{
		"without the scope": {nil, ambit.CodeInsufficientScope},
		"with the scope":    {[]string{"mail.send"}, ""},
	} {
		user := &ambit.Principal{Subject: "alice", Scopes: test.scopes}
		err := inside(t, ambit.Options{Policy: policy}, ambit.RunOptions{Principal: user}, ambit.Write, func(ctx context.Context, app *ambit.App) {
			innerCtx, run := app.Delegate(ctx, ambit.RunOptions{Principal: &ambit.Principal{Subject: "system", Unscoped: true}})
			defer run.End()
			if got := invokeEcho(innerCtx, run); got != test.want {
				t.Errorf("%s: want %q, got %q", name, test.want, got)
			}
		}, ambit.Define(scoped, echo))
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCapabilitiesOfOneRun(t *testing.T) {
	t.Parallel()
	own := func(name string) ambit.AnyCapability {
		spec := echoSpec()
		spec.Name = name
		return ambit.Define(spec, func(context.Context, ambit.Empty) (string, error) { return "own", nil })
	}
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
	for _, test := range []struct {
		name         string
		capabilities []ambit.AnyCapability
		want         ambit.Code
	}{
		{"its own", []ambit.AnyCapability{own("click")}, ""},
		{"shadows the application's", []ambit.AnyCapability{own("echo")}, ambit.CodeInternal},
		{"twice", []ambit.AnyCapability{own("click"), own("click")}, ambit.CodeInternal},
		{"invalid", []ambit.AnyCapability{own("Click")}, ambit.CodeInternal},
		{"nil", []ambit.AnyCapability{nil}, ambit.CodeInternal},
	} {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP, Capabilities: test.capabilities})
		_, err := run.Invoke(ctx, ambit.Request{Name: "click"})
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s: want %q, got %q (%v)", test.name, test.want, got, err)
		}
		innerCtx, inner := app.NewRun(ctx, ambit.RunOptions{Surface: ambit.HTTP})
		_, err = inner.Invoke(innerCtx, ambit.Request{Name: "click"})
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s, in a run within: want %q, got %q", test.name, test.want, got)
		}
		run.End()
	}
	_, other := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
	defer other.End()
	if err := other.Admit(t.Context(), "click"); ambit.CodeOf(err) != ambit.CodeNotFound {
		t.Errorf("another run: want not_found, got %v", err)
	}
}

func TestOptionsContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	var got any
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{Context: func(ctx context.Context, p *ambit.Principal) context.Context {
		return context.WithValue(ctx, key{}, "values of "+p.Subject)
	}}, contract.Bind(func(ctx context.Context, in echoInput) (echoOutput, error) {
		got = ctx.Value(key{})
		return echo(ctx, in)
	}))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	if _, err := contract.Call(ctx, echoInput{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	if got != "values of alice" {
		t.Errorf("want the application's value, got %v", got)
	}
	broken := newApp(ambit.Options{Context: func(context.Context, *ambit.Principal) context.Context { panic("oh") }})
	_, run := begin(t, broken, alice, ambit.InProcess)
	if got := ambit.CodeOf(run.Err()); got != ambit.CodeInternal {
		t.Errorf("a hook that panics: want internal, got %q", got)
	}
}

func TestT03_Freshness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		resolutions := 0
		now := &ambit.Principal{Subject: "alice", Permissions: []string{"echo"}, Scopes: []string{"a", "b"}}
		var failure error
		app := newApp(ambit.Options{Resolve: func(context.Context, *ambit.Principal) (*ambit.Principal, error) {
			resolutions++
			return now, failure
		}}, ambit.Define(echoSpec(), echo))
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: &ambit.Principal{Subject: "alice", Permissions: []string{"echo"}, Scopes: []string{"a"}}})
		defer run.End()
		step := func(name string, wait time.Duration, want ambit.Code, wantResolutions int) {
			t.Helper()
			<-time.After(wait)
			if got := invokeEcho(ctx, run); got != want || resolutions != wantResolutions {
				t.Errorf("%s: want %q after %d resolutions, got %q after %d", name, want, wantResolutions, got, resolutions)
			}
		}
		step("at once", 0, "", 0)
		step("after 30 s", ambit.Freshness, "", 0)
		step("after more", time.Second, "", 1)
		step("fresh again", 0, "", 1)
		if diff := cmp.Diff([]string{"a"}, run.Principal().Scopes); diff != "" {
			t.Errorf("scopes grew (-want +got):\n%s", diff)
		}
		now = &ambit.Principal{Subject: "alice"}
		step("permission taken away", time.Minute, ambit.CodeForbidden, 2)
		failure = errors.New("no database")
		step("resolver fails", time.Minute, ambit.CodeUnavailable, 3)
		now, failure = &ambit.Principal{Subject: "eve", Permissions: []string{"echo"}}, nil
		step("somebody else", time.Minute, ambit.CodeInternal, 4)
		now = nil
		step("gone", time.Minute, ambit.CodeUnauthenticated, 5)

		_, expiring := app.NewRun(context.Background(), ambit.RunOptions{Principal: &ambit.Principal{Subject: "alice", Permissions: []string{"echo"}, Expires: time.Now().Add(time.Second)}})
		if err := expiring.Admit(context.Background(), "echo"); err != nil {
			t.Errorf("before the credential's end: %v", err)
		}
		<-time.After(time.Second)
		if err := expiring.Admit(context.Background(), "echo"); ambit.CodeOf(err) != ambit.CodeUnauthenticated {
			t.Errorf("at the credential's end: want unauthenticated, got %v", err)
		}
		expiring.End()
	})
}

// However calls nest, through handlers, runs within runs and delegation, what
// runs has no greater effect than its cause declares, and its own principal holds
// its permission.
func TestT04_RandomNestings(t *testing.T) {
	t.Parallel()
	permissions := []string{"p", "q"}
	scopes := []string{"s", "t"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfDistinct(rapid.SampledFrom(permissions), rapid.ID)
		someScopes := rapid.SliceOfDistinct(rapid.SampledFrom(scopes), rapid.ID)
		type frame struct {
			effect ambit.Effect
			spec   ambit.Spec
		}
		var app *ambit.App
		var specs []ambit.Spec
		ran := 0
		stepsLeft := 12
		step := func(ctx context.Context, cause *frame) {
			for range rapid.IntRange(0, 2).Draw(t, "fan") {
				if stepsLeft--; stepsLeft < 0 {
					return
				}
				callCtx := ctx
				switch rapid.IntRange(0, 2).Draw(t, "way") {
				case 1:
					inner, run := app.NewRun(ctx, ambit.RunOptions{Mode: rapid.SampledFrom([]ambit.Mode{ambit.ModeUnset, ambit.ModeAuto, ambit.ModeDefault}).Draw(t, "mode")})
					defer run.End()
					callCtx = inner
				case 2:
					inner, run := app.Delegate(ctx, ambit.RunOptions{Principal: &ambit.Principal{
						Subject: "d", Permissions: some.Draw(t, "delegate's permissions"), Scopes: someScopes.Draw(t, "delegate's scopes"),
						Unscoped: rapid.Bool().Draw(t, "delegate is unscoped"),
					}})
					defer run.End()
					callCtx = inner
				}
				name := rapid.SampledFrom(specs).Draw(t, "target").Name
				_, _ = ambit.RunFromContext(callCtx).Invoke(callCtx, ambit.Request{Name: name})
			}
		}
		options := ambit.Options{Policy: delegateAll{}}
		app = newApp(options)
		for i := range 5 {
			spec := ambit.Spec{
				Name: fmt.Sprintf("c%d", i), Description: "Test.", Effect: rapid.SampledFrom(effects[:4]).Draw(t, "effect"),
				Permission: rapid.SampledFrom(permissions).Draw(t, "permission"), Scopes: someScopes.Draw(t, "scopes"),
			}
			specs = append(specs, spec)
			app.Add(ambit.Define(spec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
				ran++
				call := ambit.FromContext(ctx)
				if who := call.Principal(); !slices.Contains(who.Permissions, spec.Permission) {
					t.Fatalf("%s ran for %s, who does not hold %s", spec.Name, who.Subject, spec.Permission)
				}
				if cause, ok := ctx.Value(causeKey{}).(*frame); ok && spec.Effect > cause.effect {
					t.Fatalf("%s, which is %s, ran within %s, which is %s", spec.Name, spec.Effect, cause.spec.Name, cause.effect)
				}
				step(context.WithValue(ctx, causeKey{}, &frame{spec.Effect, spec}), nil)
				return ambit.Empty{}, nil
			}))
		}
		user := &ambit.Principal{Subject: "u", Permissions: some.Draw(t, "permissions"), Scopes: someScopes.Draw(t, "held scopes"), Unscoped: rapid.Bool().Draw(t, "unscoped")}
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: user})
		defer run.End()
		for _, spec := range specs {
			before := ran
			_, err := run.Invoke(ctx, ambit.Request{Name: spec.Name})
			covered := user.Unscoped || !slices.ContainsFunc(spec.Scopes, func(s string) bool { return !slices.Contains(user.Scopes, s) })
			if may := slices.Contains(user.Permissions, spec.Permission) && covered; (ran > before) != may {
				t.Fatalf("%s: may run %v, but ran %v (%v)", spec.Name, may, ran > before, err)
			}
		}
	})
}

type causeKey struct{}

type delegateAll struct{}

func (delegateAll) Allow(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
	return slices.Contains(p.Permissions, permission), nil
}

func (delegateAll) AllowDelegate(context.Context, string, *ambit.Principal, *ambit.Principal) (bool, error) {
	return true, nil
}
