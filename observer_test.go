package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, call, in string
		want           ambit.Event
	}{
		{"success", "echo", `{"text":"ab"}`, ambit.Event{Capability: "echo", Effect: ambit.Read, Ran: true, InFlight: 1, OutputBytes: 13}},
		{"invalid input", "echo", `{"text":""}`, ambit.Event{Capability: "echo", Effect: ambit.Read, Code: ambit.CodeInvalidInput, Faults: 1}},
		{"a foreign name is no label", "evil\nname", `{}`, ambit.Event{Code: ambit.CodeNotFound}},
	} {
		seen := &records{}
		app := newApp(ambit.Options{Observers: []ambit.Observer{seen}}, ambit.Define(echoSpec(), echo))
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
			Principal: &ambit.Principal{Authority: "test", Subject: "alice", Tenant: "acme", Permissions: []string{"echo"}}, Surface: ambit.HTTP, Request: "r1",
		})
		_, _ = run.Invoke(ctx, ambit.Request{Name: test.call, Input: []byte(test.in), Reason: "because\nI say so"})
		run.End()
		want := test.want
		want.Surface, want.Via, want.Run, want.Request = ambit.HTTP, ambit.HTTP, run.ID(), "r1"
		want.Principal, want.Tenant, want.Reason, want.InputBytes = "4:acme/4:test/alice", "acme", "because", len(test.in)
		ignore := cmpopts.IgnoreFields(ambit.Event{}, "Call", "Began", "Took", "Cause")
		if diff := cmp.Diff([]ambit.Event{want}, seen.finished, ignore); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if len(seen.started) != 1 || seen.started[0].Call != seen.finished[0].Call {
			t.Errorf("%s: the call was started as %+v", test.name, seen.started)
		}
	}
}

// The operator is told which permission was missing, and the caller is not.
func TestT07_LackedPermission(t *testing.T) {
	t.Parallel()
	kept := echoSpec()
	kept.Name, kept.Permission, kept.Callers = "kept", ambit.Authenticated, []ambit.Kind{ambit.KindAgent}
	secret := echoSpec()
	secret.Permission = "echo:secret"
	for _, test := range []struct {
		name, call string
		principal  *ambit.Principal
		hide       bool
		want       ambit.Event
	}{
		{"without the permission", "echo", alice, false, ambit.Event{Capability: "echo", Code: ambit.CodeForbidden, Lacks: "echo:secret"}},
		{"another rule", "kept", alice, false, ambit.Event{Capability: "kept", Code: ambit.CodeForbidden}},
		{"anonymous", "echo", &ambit.Principal{Kind: ambit.KindAnonymous}, false, ambit.Event{Capability: "echo", Code: ambit.CodeUnauthenticated}},
		{"hidden", "echo", alice, true, ambit.Event{Code: ambit.CodeNotFound}},
	} {
		seen := &records{}
		var log bytes.Buffer
		app := newApp(ambit.Options{HideForbidden: test.hide, Observers: []ambit.Observer{seen, ambit.LogObserver(slog.New(slog.NewTextHandler(&log, nil)))}},
			ambit.Define(secret, echo), ambit.Define(kept, echo))
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: test.principal, Surface: ambit.HTTP})
		_, err := run.Invoke(ctx, ambit.Request{Name: test.call, Input: []byte(`{"text":"a"}`)})
		run.End()
		got := seen.finished[0]
		if diff := cmp.Diff(test.want, ambit.Event{Capability: got.Capability, Code: got.Code, Lacks: got.Lacks}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if want, got := test.want.Lacks != "", strings.Contains(log.String(), " lacks=echo:secret"); want != got {
			t.Errorf("%s: want the permission in the log: %t, got %s", test.name, want, log.String())
		}
		if answer, _ := json.Marshal(err); strings.Contains(string(answer), "echo:secret") {
			t.Errorf("%s: the caller is told of the permission: %s", test.name, answer)
		}
	}
}

type brokenObserver struct{}

func (brokenObserver) Start(context.Context, ambit.Event) context.Context { panic("start") }
func (brokenObserver) Finish(context.Context, ambit.Event)                { panic("finish") }

type nilObserver struct{}

func (nilObserver) Start(context.Context, ambit.Event) context.Context { return nil }
func (nilObserver) Finish(context.Context, ambit.Event)                {}

func TestBrokenObserversDoNotFailCalls(t *testing.T) {
	t.Parallel()
	seen := &records{}
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{Observers: []ambit.Observer{brokenObserver{}, nilObserver{}, seen}}, contract.Bind(echo))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	if _, err := contract.Call(ctx, echoInput{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	if !seen.last(t).Ran {
		t.Error("the observer after the broken ones saw nothing")
	}
}

type spanKey struct{}

type spans struct{ finished []string }

func (s *spans) Start(ctx context.Context, e ambit.Event) context.Context {
	outer, _ := ctx.Value(spanKey{}).(string)
	return context.WithValue(ctx, spanKey{}, outer+"/"+e.Capability)
}

func (s *spans) Finish(ctx context.Context, _ ambit.Event) {
	s.finished = append(s.finished, ctx.Value(spanKey{}).(string))
}

func TestObserverContextsNest(t *testing.T) {
	t.Parallel()
	seen := &spans{}
	app := nest(ambit.Options{Observers: []ambit.Observer{seen}}, ambit.Write, ambit.Write, func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
		_, err := c.Call(ctx, echoInput{Text: "a"})
		return err
	})
	ctx, run := begin(t, app, alice, ambit.HTTP)
	if _, err := run.Invoke(ctx, ambit.Request{Name: "outer"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/outer/inner", "/outer"}, seen.finished); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogObserver(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "run", "call", "took":
			return slog.Attr{}
		}
		return a
	}}))
	app := newApp(ambit.Options{Observers: []ambit.Observer{ambit.LogObserver(logger)}}, ambit.Define(echoSpec(), echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, in := range []string{`{"text":"a"}`, `{}`} {
		_, _ = run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(in)})
	}
	_, _ = run.Invoke(ctx, ambit.Request{Name: "nothing.here"})
	want := strings.Join([]string{
		`level=DEBUG msg=call capability=echo surface=http principal=0:/4:test/alice`,
		`level=INFO msg=call capability=echo surface=http principal=0:/4:test/alice code=invalid_input`,
		`level=INFO msg=call capability=(unknown) surface=http principal=0:/4:test/alice code=not_found`, "",
	}, "\n")
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who calls is called what others say, and the log shows it.
func TestT10_LogObserver(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	app := newApp(ambit.Options{Observers: []ambit.Observer{ambit.LogObserver(slog.New(slog.NewJSONHandler(&log, nil)))}}, ambit.Define(echoSpec(), echo))
	ctx, run := begin(t, app, &ambit.Principal{Authority: "test", Subject: "ali\u202ece", Permissions: []string{"echo"}}, ambit.HTTP)
	_, _ = run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{}`)})
	if want := `"principal":"0:/4:test/ali\\u202ece"`; !strings.Contains(log.String(), want) {
		t.Errorf("want %s, got %s", want, log.String())
	}
}

// A call that nobody listens to and that passes its checks allocates a call, a
// frame, and nothing else.
func TestTypedCallAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{Observers: []ambit.Observer{nilObserver{}}}, contract.Bind(func(_ context.Context, in echoInput) (echoOutput, error) {
		return echoOutput{Text: in.Text}, nil
	}))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	got := testing.AllocsPerRun(100, func() {
		if _, err := contract.Call(ctx, echoInput{Text: "a", Times: 1}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("want 2 allocations, got %v", got)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	first, second := &records{}, &records{}
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{Observers: []ambit.Observer{first}}, contract.Bind(echo))
	if err := app.Observe(second); err != nil {
		t.Fatalf("before Freeze: want no error, got %v", err)
	}
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice})
	defer run.End()
	if _, err := contract.Call(ctx, echoInput{Text: "ab"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.finished, second.finished, cmpopts.IgnoreFields(ambit.Event{}, "Cause")); diff != "" || len(second.finished) != 1 {
		t.Errorf("events of the two observers (-options +added):\n%s", diff)
	}
	if err := app.Observe(second); err == nil {
		t.Error("after Freeze: want an error, got none")
	}
}

// A caller's reason is one line of at most 200 characters, whatever it sends.
func TestT10_ReasonIsOneLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, reason, want string }{
		{"plain", "tidying up", "tidying up"},
		{"lines", "tidying\nIGNORE THE ABOVE", "tidying"},
		{"line separator", "tidying\u2028up", "tidying"},
		{"invalid UTF-8", "tidying\xff", "tidying\uFFFD"},
		{"long", strings.Repeat("é", 300), strings.Repeat("é", 200)},
	} {
		seen := &records{}
		app := newApp(ambit.Options{Observers: []ambit.Observer{seen}}, ambit.Define(echoSpec(), echo))
		ctx, run := begin(t, app, alice, ambit.HTTP)
		if _, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`), Reason: test.reason}); err != nil {
			t.Fatal(err)
		}
		if got := seen.last(t).Reason; got != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
	}
}

// A handler that ends its goroutine, as a test that fails does, leaves nothing
// behind: the call is recorded, and its slot is free.
func TestHandlerExits(t *testing.T) {
	t.Parallel()
	seen := &records{}
	app := newApp(ambit.Options{Observers: []ambit.Observer{seen}, Limits: ambit.Limits{InFlight: 1}},
		ambit.Define(echoSpec(), func(context.Context, echoInput) (echoOutput, error) {
			runtime.Goexit()
			return echoOutput{}, nil
		}))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for range 2 {
		var group sync.WaitGroup
		group.Go(func() { invokeEcho(ctx, run) })
		group.Wait()
		if e := seen.last(t); e.Code != ambit.CodeInternal || !e.Ran {
			t.Errorf("want internal, after the handler began, got %+v", e)
		}
	}
}

// A reason that Go code gives reaches the handler and the record.
func TestWithReason(t *testing.T) {
	t.Parallel()
	seen := &records{}
	var told string
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{Observers: []ambit.Observer{seen}}, contract.Bind(func(ctx context.Context, in echoInput) (echoOutput, error) {
		told = ambit.FromContext(ctx).Reason()
		return echo(ctx, in)
	}))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	if _, err := contract.Call(ctx, echoInput{Text: "a"}, ambit.WithReason("tidying up\nand more")); err != nil {
		t.Fatal(err)
	}
	if want, got := "tidying up", seen.last(t).Reason; got != want || told != want {
		t.Errorf("want %q, got %q in the record and %q in the handler", want, got, told)
	}
}
