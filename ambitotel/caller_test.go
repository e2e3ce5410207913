package ambitotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambitotel"
)

// What a caller says, in the example of the recommendation.
const (
	callerTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan   = "00f067aa0ba902b7"
	callerParent = "00-" + callerTrace + "-" + callerSpan + "-01"
	callerState  = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
)

func everybody(context.Context, ambit.Event) bool { return true }

// remote is a context into which middleware has read what the caller says.
func remote(t *testing.T) context.Context {
	t.Helper()
	ctx := trace.ContextWithRemoteSpanContext(t.Context(), caller(t, trace.FlagsSampled))
	member, err := baggage.NewMember("user", "alice")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(ctx, bag)
}

func caller(t *testing.T, flags trace.TraceFlags) trace.SpanContext {
	t.Helper()
	traceID, err := trace.TraceIDFromHex(callerTrace)
	if err != nil {
		t.Fatal(err)
	}
	spanID, err := trace.SpanIDFromHex(callerSpan)
	if err != nil {
		t.Fatal(err)
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: flags, Remote: true})
}

// TestT11_TraceContext says, for each way in which trace context comes along,
// what the call's span is a child of and what it links to.
func TestT11_TraceContext(t *testing.T) {
	t.Parallel()
	const (
		none    = ""
		child   = callerTrace + "-" + callerSpan + " flags 01 state " + callerState
		link    = callerTrace + "-" + callerSpan + " flags 00 state "
		around  = "around"
		meta    = `{"traceparent":"` + callerParent + `","tracestate":"` + callerState + `","baggage":"user=alice"}`
		trusted = true
	)
	headers := []string{"traceparent", callerParent, "tracestate", callerState, "baggage", "user=alice"}
	for _, test := range []struct {
		name    string
		trusted bool
		around  bool // the application has begun a span around the request
		remote  bool // its middleware has read the trace context
		call    func(*testing.T, context.Context, *ambit.App)
		parent  string
		link    string
	}{
		{"http, nothing said", false, false, false, http(), none, none},
		{"http, a stranger", false, false, false, http(headers...), none, link},
		{"http, a stranger, within a span", false, true, false, http(headers...), around, link},
		{"http, a stranger, by middleware", false, false, true, http(), none, link},
		{"http, trusted", trusted, false, false, http(headers...), child, none},
		{"http, trusted, nothing said", trusted, false, false, http(), none, none},
		{"http, trusted, within a span", trusted, true, false, http(headers...), around, child},
		{"http, trusted, by middleware", trusted, false, true, http(), callerTrace + "-" + callerSpan + " flags 01 state ", none},
		{"mcp, nothing said", false, false, false, mcpCall("{}"), none, none},
		{"mcp, a stranger", false, false, false, mcpCall(meta), none, link},
		{"mcp, a stranger, within a span", false, true, false, mcpCall(meta), around, link},
		{"mcp, trusted", trusted, false, false, mcpCall(meta), child, none},
		{"mcp, trusted, within a span", trusted, true, false, mcpCall(meta), child, around},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := ambitotel.Options{}
			if test.trusted {
				options.TrustCaller = everybody
			}
			te := newTelemetry(t, options)
			bags := &bagObserver{}
			app := te.app(ambit.Options{Middleware: []ambit.Middleware{{Name: "look", Wrap: bags.look}}})
			ctx := t.Context()
			if test.remote {
				ctx = remote(t)
			}
			var span trace.Span
			if test.around {
				ctx, span = te.tracer.Tracer("test").Start(ctx, "request")
				defer span.End()
			}
			test.call(t, ctx, app)
			got := te.last(t)
			describe := func(c trace.SpanContext) string {
				switch {
				case !c.IsValid():
					return none
				case test.around && c.SpanID() == span.SpanContext().SpanID():
					return around
				}
				return fmt.Sprintf("%s-%s flags %s state %s", c.TraceID(), c.SpanID(), c.TraceFlags(), c.TraceState())
			}
			if diff := cmp.Diff(test.parent, describe(got.Parent)); diff != "" {
				t.Errorf("parent (-want +got):\n%s", diff)
			}
			var links []string
			for _, l := range got.Links {
				links = append(links, describe(l.SpanContext))
			}
			if diff := cmp.Diff(test.link, strings.Join(links, ", ")); diff != "" {
				t.Errorf("link (-want +got):\n%s", diff)
			}
			if wantTrace := strings.HasPrefix(test.parent, callerTrace); wantTrace != (got.SpanContext.TraceID().String() == callerTrace) {
				t.Errorf("want the caller's trace: %v, got %s", wantTrace, got.SpanContext.TraceID())
			}
			// Only what the application's own middleware has read can be there,
			// and only of callers who are trusted.
			if want := test.remote && test.trusted; want != (bags.seen > 0) {
				t.Errorf("want baggage in the handler's context: %v, got %d members", want, bags.seen)
			}
		})
	}
}

func http(headers ...string) func(*testing.T, context.Context, *ambit.App) {
	return func(t *testing.T, ctx context.Context, app *ambit.App) { callHTTP(t, ctx, app, headers...) }
}

func mcpCall(meta string) func(*testing.T, context.Context, *ambit.App) {
	return func(t *testing.T, ctx context.Context, app *ambit.App) { callMCP(t, ctx, app, meta) }
}

// bagObserver counts the members of the baggage that handlers can see.
type bagObserver struct{ seen int }

func (b *bagObserver) look(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
	b.seen += baggage.FromContext(ctx).Len()
	return next(ctx)
}

// A caller who is not trusted does not decide about sampling, whatever the
// sampler is told by parents.
func TestT11_FlagsOfStrangersAreNotObeyed(t *testing.T) {
	t.Parallel()
	for _, said := range []string{callerParent, callerParent[:len(callerParent)-1] + "0"} {
		te := newTelemetry(t, ambitotel.Options{}) // samples what no parent decides about
		callHTTP(t, t.Context(), te.app(ambit.Options{}), "traceparent", said)
		if got := te.last(t); !got.SpanContext.IsSampled() || got.Links[0].SpanContext.TraceFlags() != 0 {
			t.Errorf("%s: want a sampled span and a link without flags, got %v and %v", said, got.SpanContext, got.Links)
		}
	}
}

// What is not well formed is as good as nothing, and fails no call.
func TestT11_HostileTraceContext(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{
		"", "-", "00", "garbage\x00", strings.Repeat("0", 4096), strings.ToUpper(callerParent),
		"ff" + callerParent[2:], callerParent + "-more", callerParent + "\x00", " " + callerParent, callerParent[:54],
		"00-" + strings.Repeat("0", 32) + "-" + callerSpan + "-01",
		"00-" + callerTrace + "-" + strings.Repeat("0", 16) + "-01",
		"00-" + callerTrace + "-" + callerSpan + "-ff",
		"00_" + callerTrace + "_" + callerSpan + "_01",
		"00-" + callerSpan + "-" + callerTrace + "-01",
	} {
		for _, trusted := range []bool{false, true} {
			te := newTelemetry(t, ambitotel.Options{TrustCaller: func(context.Context, ambit.Event) bool { return trusted }})
			request := ambit.Request{Name: "notes.inner", Trace: ambit.Trace{Parent: parent, State: callerState}}
			if err := invoke(t.Context(), te.app(ambit.Options{}), ambit.HTTP, request); err != nil {
				t.Errorf("%q: %v", parent, err)
			}
			if got := te.last(t); got.Parent.IsValid() || len(got.Links) != 0 {
				t.Errorf("%q: want no parent and no link, got %v and %v", parent, got.Parent, got.Links)
			}
		}
	}
	// A later version may say more; a state that is none is left out.
	te := newTelemetry(t, ambitotel.Options{TrustCaller: everybody})
	request := ambit.Request{Name: "notes.inner", Trace: ambit.Trace{Parent: "01" + callerParent[2:] + "-more", State: "=,=,\n"}}
	if err := invoke(t.Context(), te.app(ambit.Options{}), ambit.HTTP, request); err != nil {
		t.Fatal(err)
	}
	if got := te.last(t).Parent; !got.Equal(caller(t, trace.FlagsSampled)) {
		t.Errorf("want the caller's span without a state, got %v", got)
	}
}

func FuzzT11_TraceContext(f *testing.F) {
	f.Add(callerParent, callerState)
	f.Add("cc-"+callerTrace+"-"+callerSpan+"-ff-more", "a=1,a=2")
	te := newTelemetry(f, ambitotel.Options{})
	f.Fuzz(func(t *testing.T, parent, state string) {
		event := ambit.Event{Surface: ambit.HTTP, Trace: ambit.Trace{Parent: parent, State: state}}
		ctx := te.observer.Start(t.Context(), event)
		te.observer.Finish(ctx, event)
		got := te.last(t)
		te.spans.Reset()
		if got.Parent.IsValid() {
			t.Fatalf("want no parent, got %v", got.Parent)
		}
		for _, l := range got.Links {
			if c := l.SpanContext; !c.IsValid() || !c.IsRemote() || c.TraceFlags() != 0 || c.TraceState().Len() != 0 {
				t.Fatalf("want the name of a remote span and nothing more, got %v", c)
			}
			if !strings.Contains(parent, l.SpanContext.TraceID().String()) {
				t.Fatalf("%q does not name trace %s", parent, l.SpanContext.TraceID())
			}
		}
	})
}

// Who is trusted is decided by what the surface has verified. A decision that
// panics is no.
func TestT11_TrustCaller(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		trust func(context.Context, ambit.Event) bool
		want  bool
	}{
		{"by principal", func(_ context.Context, e ambit.Event) bool { return e.Principal == alice.Key() }, true},
		{"by context", func(ctx context.Context, _ ambit.Event) bool { return ctx.Value(meshKey{}) == true }, true},
		{"no", func(context.Context, ambit.Event) bool { return false }, false},
		{"panic", func(context.Context, ambit.Event) bool { panic("of the application") }, false},
	} {
		te := newTelemetry(t, ambitotel.Options{TrustCaller: test.trust})
		ctx := context.WithValue(t.Context(), meshKey{}, true)
		request := ambit.Request{Name: "notes.outer", Trace: ambit.Trace{Parent: callerParent}}
		if err := invoke(ctx, te.app(ambit.Options{}), ambit.HTTP, request); err != nil {
			t.Fatal(err)
		}
		if got := te.last(t); got.Parent.IsValid() != test.want || len(got.Links) == 1 == test.want {
			t.Errorf("%s: want trusted %v, got parent %v and links %v", test.name, test.want, got.Parent, got.Links)
		}
	}
}

type meshKey struct{}

// An application that calls in process is its own caller: the span in its
// context is the parent, wherever it came from.
func TestTraceContextInProcess(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	if err := invoke(remote(t), te.app(ambit.Options{}), ambit.InProcess, ambit.Request{Name: "notes.inner"}); err != nil {
		t.Fatal(err)
	}
	if got := te.last(t); got.Parent.TraceID().String() != callerTrace || len(got.Links) != 0 {
		t.Errorf("want a child of the span in the context, got parent %v and links %v", got.Parent, got.Links)
	}
}

func TestT11_UnknownNamesAreOneLabel(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	app := te.app(ambit.Options{})
	for i := range 100 {
		_ = invoke(t.Context(), app, ambit.MCP, ambit.Request{Name: fmt.Sprintf("foreign_%d", i)})
		_ = invoke(t.Context(), app, ambit.MCP, ambit.Request{Name: "notes_hidden"})
	}
	want := map[string]int64{"ambit.capability=(unknown),ambit.surface=mcp,error.type=not_found": 200}
	if diff := cmp.Diff(want, te.metric(t, "ambit.call.count")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, te.metric(t, "ambit.call.refusals")); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	for _, s := range te.ended() {
		if s.Name != "tools/call" || attributeOf(s, "gen_ai.tool.name") == "notes_hidden" {
			t.Fatalf("want no name on the span, got %q %v", s.Name, s.Attributes)
		}
	}
}

// Nothing that is said in a call, by the caller, the handler or about the
// principal, is in what is reported.
func TestT09_WhatIsSaidIsNotReported(t *testing.T) {
	t.Parallel()
	const canary = "canary-4711"
	te := newTelemetry(t, ambitotel.Options{Principals: true, Tenants: true})
	app := te.app(ambit.Options{})
	who := &ambit.Principal{Authority: "test", Subject: "bob", Claims: map[string]any{"email": canary}, Roles: []string{canary}, Permissions: []string{canary}}
	app.Add(ambit.Define(spec("notes.say", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, ambit.Errorf(ambit.CodeConflict, canary).WithHint(canary)
	}), ambit.Define(spec("notes.break", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, fmt.Errorf("%s", canary)
	}), ambit.Define(spec("notes.fall", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) {
		panic(canary)
	}))
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: who, Surface: ambit.HTTP})
	defer run.End()
	for _, name := range []string{"notes.inner", "notes.outer", "notes.say", "notes.break", "notes.fall", canary} {
		for _, input := range []string{`{"text":"` + canary + `"}`, `{"text":"` + strings.Repeat(canary, 9) + `"}`, `{"` + canary + `":1}`, "{}"} {
			_, _ = run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(input), Reason: canary, IdempotencyKey: canary, Trace: ambit.Trace{Parent: canary, State: canary}})
		}
	}
	if len(te.ended()) == 0 {
		t.Fatal("no span has ended")
	}
	for _, s := range te.ended() {
		if text := fmt.Sprintf("%+v", s); strings.Contains(text, canary) {
			t.Errorf("a span says it: %s", text)
		}
	}
	if text := fmt.Sprintf("%+v", te.metrics(t)); strings.Contains(text, canary) {
		t.Errorf("a metric says it: %s", text)
	}
}
