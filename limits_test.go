package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
)

var bob = &ambit.Principal{Authority: "test", Subject: "bob", Permissions: []string{"echo"}, Unscoped: true}

// aMinute returns a rate of so many calls a minute.
func aMinute(calls, burst int) ambit.Rate {
	return ambit.Rate{Calls: calls, Per: time.Minute, Burst: burst}
}

// attempt makes one call in a run of its own and returns the error, if any.
func attempt(t *testing.T, app *ambit.App, p *ambit.Principal, s ambit.Surface, name string) *ambit.Error {
	t.Helper()
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: p, Surface: s})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`)})
	if err == nil {
		return nil
	}
	return failure(t, err)
}

// step is one call after a pause.
type step struct {
	after     time.Duration
	principal *ambit.Principal
	surface   ambit.Surface
	name      string
	want      ambit.Code
	limit     ambit.Limit
	retry     time.Duration
}

func TestT25_Rates(t *testing.T) {
	t.Parallel()
	const limited = ambit.CodeRateLimited
	acme := &ambit.Principal{Kind: ambit.KindAnonymous, Tenant: "acme"}
	for _, test := range []struct {
		name  string
		rate  ambit.Rate // of a principal
		own   ambit.Rate // of the capability echo
		steps []step
	}{
		{"a principal's, on every way in", aMinute(6, 3), ambit.Rate{}, []step{
			{0, alice, ambit.HTTP, "echo", "", 0, 0},
			{0, alice, ambit.MCP, "echo", "", 0, 0},
			{0, alice, ambit.InProcess, "other", "", 0, 0},
			{0, alice, ambit.CommandLine, "echo", limited, ambit.LimitRate, 10 * time.Second},
			{0, bob, ambit.HTTP, "echo", "", 0, 0},
			{2500 * time.Millisecond, alice, ambit.HTTP, "echo", limited, ambit.LimitRate, 8 * time.Second}, // 7.5 rounded up
			{7500 * time.Millisecond, alice, ambit.HTTP, "echo", "", 0, 0},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitRate, 10 * time.Second},
			{time.Hour, alice, ambit.HTTP, "echo", "", 0, 0},
		}},
		{"whatever comes of the calls", aMinute(1, 3), ambit.Rate{}, []step{
			{0, alice, ambit.HTTP, "nothing", ambit.CodeNotFound, 0, 0},
			{0, alice, ambit.HTTP, "closed", ambit.CodeForbidden, 0, 0},
			{0, alice, ambit.HTTP, "hidden", ambit.CodeNotFound, 0, 0},
			{0, alice, ambit.HTTP, "nothing", limited, ambit.LimitRate, time.Minute},
			{0, alice, ambit.HTTP, "closed", limited, ambit.LimitRate, time.Minute},
			{0, alice, ambit.HTTP, "hidden", limited, ambit.LimitRate, time.Minute},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitRate, time.Minute},
		}},
		{"a capability's", ambit.Rate{}, aMinute(2, 0), []step{
			{0, alice, ambit.HTTP, "echo", "", 0, 0},
			{0, alice, ambit.MCP, "echo", "", 0, 0},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitCapabilityRate, 30 * time.Second},
			{0, alice, ambit.HTTP, "other", "", 0, 0},
			{0, bob, ambit.HTTP, "echo", "", 0, 0},
			{0, alice, ambit.HTTP, "outer", "", 0, 0}, // which calls echo, and says so
			{30 * time.Second, alice, ambit.HTTP, "echo", "", 0, 0},
		}},
		{"a refusal by the capability's costs nothing of the principal's", aMinute(1, 3), aMinute(1, 1), []step{
			{0, alice, ambit.HTTP, "echo", "", 0, 0},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitCapabilityRate, time.Minute},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitCapabilityRate, time.Minute},
			{0, alice, ambit.HTTP, "other", "", 0, 0},
			{0, alice, ambit.HTTP, "other", "", 0, 0},
			{0, alice, ambit.HTTP, "echo", limited, ambit.LimitRate, time.Minute},
		}},
		{"calls that handlers make are the handler's", aMinute(1, 2), ambit.Rate{}, []step{
			{0, alice, ambit.HTTP, "outer", "", 0, 0},
			{0, alice, ambit.HTTP, "outer", "", 0, 0},
			{0, alice, ambit.HTTP, "outer", limited, ambit.LimitRate, time.Minute},
		}},
		{"strangers are one caller for each tenant", aMinute(1, 1), ambit.Rate{}, []step{
			{0, anonymous, ambit.HTTP, "open", "", 0, 0},
			{0, &ambit.Principal{Kind: ambit.KindAnonymous}, ambit.MCP, "open", limited, ambit.LimitRate, time.Minute},
			{0, acme, ambit.HTTP, "open", "", 0, 0},
		}},
		{"none", ambit.Rate{Calls: ambit.Unlimited}, ambit.Rate{Calls: ambit.Unlimited}, append(
			repeat(2000, step{0, alice, ambit.HTTP, "echo", "", 0, 0}), step{0, alice, ambit.HTTP, "outer", "", 0, 0},
		)},
		{"the default", ambit.Rate{}, ambit.Rate{}, append(
			repeat(ambit.DefaultBurst, step{0, alice, ambit.HTTP, "echo", "", 0, 0}),
			step{0, alice, ambit.HTTP, "echo", limited, ambit.LimitRate, time.Second},
			step{10 * time.Millisecond, alice, ambit.HTTP, "echo", "", 0, 0},
		)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				seen := &records{}
				app := ratedApp(ambit.Options{Limits: ambit.Limits{Rate: test.rate}, Observers: []ambit.Observer{seen}}, test.own)
				for i, s := range test.steps {
					<-time.After(s.after)
					e := attempt(t, app, s.principal, s.surface, s.name)
					got := step{s.after, s.principal, s.surface, s.name, "", seen.last(t).Limit, 0}
					if e != nil {
						got.want, got.retry = e.Code, e.RetryAfter
					}
					if diff := cmp.Diff(s, got, cmp.AllowUnexported(step{})); diff != "" {
						t.Errorf("call %d (-want +got):\n%s", i, diff)
					}
				}
			})
		})
	}
}

func repeat(n int, s step) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

// ratedApp has echo with a rate of its own, and others without: outer calls
// echo and says nothing of what came of it.
func ratedApp(o ambit.Options, own ambit.Rate) *ambit.App {
	spec := func(name string, change func(*ambit.Spec)) ambit.Spec {
		s := echoSpec()
		s.Name = name
		change(&s)
		return s
	}
	contract := ambit.NewContract[echoInput, echoOutput](spec("echo", func(s *ambit.Spec) { s.Rate = own }))
	return newApp(o, contract.Bind(echo),
		ambit.Define(spec("other", func(*ambit.Spec) {}), echo),
		ambit.Define(spec("closed", func(s *ambit.Spec) { s.Permission = "nobody" }), echo),
		ambit.Define(spec("hidden", func(s *ambit.Spec) { s.Expose = 0 }), echo),
		ambit.Define(spec("open", func(s *ambit.Spec) { s.Permission = ambit.Public }), echo),
		ambit.Define(spec("outer", func(*ambit.Spec) {}), func(ctx context.Context, in echoInput) (echoOutput, error) {
			_, _ = contract.Call(ctx, in)
			return echoOutput{}, nil
		}))
}

// A capability's own rate cannot be gone around by calls within calls, and both
// they and delegated ones are charged to whoever caused them.
func TestT25_RateIsChargedToTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spec := echoSpec()
		spec.Rate = aMinute(1, 2)
		contract := ambit.NewContract[echoInput, echoOutput](spec)
		spec.Name, spec.Rate = "outer", ambit.Rate{}
		var app *ambit.App
		var inner []ambit.Code
		app = newApp(ambit.Options{Policy: delegates{}}, contract.Bind(echo), ambit.Define(spec, func(ctx context.Context, in echoInput) (echoOutput, error) {
			_, err := contract.Call(ctx, in)
			inner = append(inner, ambit.CodeOf(err))
			ctx, run := app.Delegate(ctx, ambit.RunOptions{Principal: bob})
			defer run.End()
			_, err = contract.Call(ctx, in)
			inner = append(inner, ambit.CodeOf(err))
			return in2out(in), nil
		}))
		for range 2 {
			if e := attempt(t, app, alice, ambit.HTTP, "outer"); e != nil {
				t.Fatal(e)
			}
		}
		if e := attempt(t, app, bob, ambit.HTTP, "echo"); e != nil {
			t.Errorf("the principal delegated to was charged: %v", e)
		}
		limited := ambit.CodeRateLimited
		if diff := cmp.Diff([]ambit.Code{"", "", limited, limited}, inner); diff != "" {
			t.Errorf("inner calls (-want +got):\n%s", diff)
		}
	})
}

// What guest code or a model calls within a call counts like what comes in.
func TestT25_RateCountsWhatOthersCallWithin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spec := echoSpec()
		spec.Expose |= ambit.Sandbox
		var app *ambit.App
		var inner []ambit.Code
		guest := spec
		guest.Name = "guest"
		app = newApp(ambit.Options{Limits: ambit.Limits{Rate: aMinute(1, 3)}}, ambit.Define(spec, echo),
			ambit.Define(guest, func(ctx context.Context, in echoInput) (echoOutput, error) {
				ctx, run := app.NewRun(ctx, ambit.RunOptions{Surface: ambit.Sandbox})
				defer run.End()
				for range 3 {
					_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
					inner = append(inner, ambit.CodeOf(err))
				}
				return in2out(in), nil
			}))
		if e := attempt(t, app, alice, ambit.HTTP, "guest"); e != nil {
			t.Fatal(e)
		}
		if diff := cmp.Diff([]ambit.Code{"", "", ambit.CodeRateLimited}, inner); diff != "" {
			t.Errorf("the guest's calls (-want +got):\n%s", diff)
		}
	})
}

func in2out(in echoInput) echoOutput { return echoOutput{Text: in.Text} }

// delegates is a policy that allows everything.
type delegates struct{}

func (delegates) Allow(context.Context, *ambit.Principal, string) (bool, error) { return true, nil }

func (delegates) AllowDelegate(context.Context, string, *ambit.Principal, *ambit.Principal) (bool, error) {
	return true, nil
}

// However calls come, no more run than the burst and what the rate gave since.
func TestT25_RateHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		calls, burst := rapid.IntRange(1, 100).Draw(rt, "calls"), rapid.IntRange(1, 20).Draw(rt, "burst")
		per := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(rt, "per"))
		pauses := rapid.SliceOfN(rapid.Int64Range(0, 3*int64(per)/int64(calls)), 1, 50).Draw(rt, "pauses")
		own := rapid.Bool().Draw(rt, "a capability's")
		rate := ambit.Rate{Calls: calls, Per: per, Burst: burst}
		var fault string
		synctest.Test(t, func(t *testing.T) {
			limits, capability := ambit.Limits{Rate: rate}, ambit.Rate{}
			if own {
				limits.Rate, capability = ambit.Rate{Calls: ambit.Unlimited}, rate
			}
			app := ratedApp(ambit.Options{Limits: limits}, capability)
			var admitted []time.Time
			for _, pause := range pauses {
				<-time.After(time.Duration(pause))
				if attempt(t, app, alice, ambit.HTTP, "echo") == nil {
					admitted = append(admitted, time.Now())
				}
			}
			for i, from := range admitted {
				for j, to := range admitted[i:] {
					most := float64(burst) + float64(calls)*float64(to.Sub(from))/float64(per)
					if float64(j+1) > most+1e-6 {
						fault = fmt.Sprintf("want at most %v calls in %v, got %d", most, to.Sub(from), j+1)
					}
				}
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// The texts of every refusal by a limit.
func TestT25_RefusalsByLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorks(ambit.Options{Limits: ambit.Limits{InFlight: 1, InputBytes: 100, Rate: aMinute(1, 9)}}, aMinute(1, 4))
		defer w.end()
		var got strings.Builder
		refused := func(p *ambit.Principal, input string) {
			t.Helper()
			e := failure(t, w.call(t, p, input))
			fmt.Fprintf(&got, "%s: %s\n  %s (retry after %v, executed %q)\n", w.seen.last(t).Limit, e.Message, e.Hint, e.RetryAfter, e.Executed)
		}
		w.begin(t, alice, `{"text":"a"}`)
		refused(alice, `{"text":"a"}`)
		refused(bob, `{"text":"a"}`+strings.Repeat(" ", 100))
		w.finish(t)
		for range 2 {
			w.begin(t, alice, `{"text":"a"}`)
			w.finish(t)
		}
		refused(alice, `{"text":"a"}`)
		for range 5 {
			if e := attempt(t, w.app, alice, ambit.HTTP, "nothing"); e.Code != ambit.CodeNotFound {
				t.Fatal(e)
			}
		}
		refused(alice, `{"text":"a"}`)
		golden(t, "limits.txt", got.String())
	})
}

// What names what to narrow in a result that is too large.
func TestT25_ResultTooLargeNamesWhatToNarrow(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.MaxResult = 5
	much := func() string { return "much more than that" }
	for _, test := range []struct {
		name       string
		capability ambit.AnyCapability
		want       string
	}{
		{"something", ambit.Define(spec, func(context.Context, struct {
			Text     string   `json:"text,omitempty"`
			Limit    *int     `json:"limit"`
			PageSize *int     `json:"page_size"`
			Fields   []string `json:"fields,omitempty"`
		},
		) (string, error) {
			return much(), nil
		}), `Ask for less: set or tighten "limit", "page_size", "fields".`},
		{"nothing", ambit.Define(spec, func(context.Context, ambit.Empty) (string, error) { return much(), nil }), "Ask for something smaller."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app := newApp(ambit.Options{}, test.capability)
			ctx, run := begin(t, app, alice, ambit.HTTP)
			_, err := run.Invoke(ctx, ambit.Request{Name: "echo"})
			if e := failure(t, err); e.Code != ambit.CodeResultTooLarge || e.Hint != test.want {
				t.Errorf("want %q, got %s %q", test.want, e.Code, e.Hint)
			}
		})
	}
}

// All that a result may be sent as counts toward its size.
func TestT25_EveryPartOfAResultCounts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	text := func(s string) func(echoOutput) string { return func(echoOutput) string { return s } }
	content := func(c ambit.Content) func(echoOutput) []ambit.Content {
		return func(echoOutput) []ambit.Content { return []ambit.Content{c} }
	}
	spec := echoSpec()
	spec.MaxResult = 1000
	plain := ambit.Define(spec, echo)
	for name, test := range map[string]struct {
		capability ambit.AnyCapability
		want       ambit.Code
	}{
		"a short text":      {plain.WithText(text("short")), ""},
		"a long text":       {plain.WithText(text(long)), ambit.CodeResultTooLarge},
		"a long content":    {plain.WithContent(content(ambit.Content{Kind: ambit.TextContent, Text: long})), ambit.CodeResultTooLarge},
		"a long address":    {plain.WithContent(content(ambit.Content{Kind: ambit.ResourceContent, Text: "x", MIMEType: "text/plain", URI: long})), ambit.CodeResultTooLarge},
		"a long media type": {plain.WithContent(content(ambit.Content{Kind: ambit.ImageContent, Data: []byte("x"), MIMEType: long})), ambit.CodeResultTooLarge},
	} {
		app := newApp(ambit.Options{}, test.capability)
		ctx, run := begin(t, app, alice, ambit.MCP)
		_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`), WantText: true})
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s: want %q, got %q", name, test.want, got)
		}
	}
}

func TestLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits ambit.Limits
		want   string
	}{
		{"zero", ambit.Limits{}, ""},
		{"none at all", ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}, InFlight: ambit.Unlimited, InputBytes: ambit.Unlimited}, ""},
		{"rate without time", ambit.Limits{Rate: ambit.Rate{Calls: 5}}, "ambit: Options.Limits.Rate: Per is not above zero: leave Rate zero for the default, or say how many calls in which time"},
		{"in flight", ambit.Limits{InFlight: -2}, "ambit: Options.Limits.InFlight is negative: leave it zero for the default, or say ambit.Unlimited"},
		{"input bytes", ambit.Limits{InputBytes: -3}, "ambit: Options.Limits.InputBytes is negative: leave it zero for the default, or say ambit.Unlimited"},
	} {
		got := ""
		if err := newApp(ambit.Options{Limits: test.limits}).Freeze(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRateString(t *testing.T) {
	t.Parallel()
	got := map[ambit.Rate]string{}
	want := map[ambit.Rate]string{
		{}:                                      "any number of calls",
		{Calls: ambit.Unlimited}:                "any number of calls",
		{Calls: 1, Per: time.Second}:            "1 call a second",
		{Calls: 2, Per: time.Minute, Burst: 30}: "2 calls a minute",
		{Calls: 3, Per: time.Hour}:              "3 calls an hour",
		{Calls: 4, Per: 24 * time.Hour}:         "4 calls a day",
		{Calls: 5, Per: 90 * time.Second}:       "5 calls every 1m30s",
	}
	for rate := range want {
		got[rate] = rate.String()
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLimitText(t *testing.T) {
	t.Parallel()
	for limit, want := range map[ambit.Limit]string{
		0: "", ambit.LimitRate: "rate", ambit.LimitCapabilityRate: "capability_rate",
		ambit.LimitInFlight: "in_flight", ambit.LimitInputBytes: "input_bytes", 200: "invalid",
	} {
		if text, err := limit.MarshalText(); err != nil || string(text) != want || limit.String() != want {
			t.Errorf("limit %d: want %q, got %q, %v", limit, want, text, err)
		}
	}
}

func TestSpecRateIsChecked(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.Rate = ambit.Rate{Calls: 5, Per: time.Minute, Burst: -1}
	defer func() {
		want := `ambit: capability "echo": Rate is none: Burst is negative: leave Rate zero, or say how many calls in which time`
		if diff := cmp.Diff(any(want), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	newApp(ambit.Options{}, ambit.Define(spec, echo))
}

func ExampleRate() {
	app := ambit.New(ambit.Options{Name: "mail"})
	send := ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{
		Name: "mail.send", Description: "Send the draft.", Effect: ambit.Write, Permission: ambit.Authenticated,
		Rate: ambit.Rate{Calls: 10, Per: time.Hour, Burst: 2},
	})
	app.Add(send.Bind(func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: &ambit.Principal{Subject: "alice"}})
	defer run.End()
	for range 3 {
		_, err := send.Call(ctx, ambit.Empty{})
		if e, ok := errors.AsType[*ambit.Error](err); ok {
			fmt.Println(e.Message) // and e.Hint says how long to wait
			continue
		}
		fmt.Println("sent")
	}
	// Output:
	// sent
	// sent
	// Too many calls of this: you may make 10 calls an hour.
}
