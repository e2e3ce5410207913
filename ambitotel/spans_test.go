package ambitotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambitotel"
)

// said is what a span says, in a form that compares. The ids of run and call
// differ each time.
type said struct {
	Name       string
	Kind       trace.SpanKind
	Status     codes.Code
	Attributes map[string]any
}

func saidBy(t *testing.T, s tracetest.SpanStub) said {
	t.Helper()
	attributes := map[string]any{}
	for _, a := range s.Attributes {
		attributes[string(a.Key)] = a.Value.AsInterface()
	}
	for _, id := range []string{"ambit.run", "ambit.call"} {
		if text, _ := attributes[id].(string); text == "" {
			t.Errorf("%s has no %s", s.Name, id)
		}
		delete(attributes, id)
	}
	return said{s.Name, s.SpanKind, s.Status.Code, attributes}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	type attributes = map[string]any
	for _, test := range []struct {
		title   string
		surface ambit.Surface
		call    string
		input   string
		want    said
	}{
		{"http", ambit.HTTP, "notes.inner", `{"text":"a"}`, said{"notes.inner", trace.SpanKindServer, codes.Unset, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "http", "ambit.via": "http",
			"ambit.ran": true, "ambit.input.size": int64(12), "ambit.output.size": int64(12),
		}}},
		{"mcp", ambit.MCP, "notes_inner", "", said{"tools/call notes_inner", trace.SpanKindServer, codes.Unset, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "mcp", "ambit.via": "mcp",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "notes_inner", "mcp.method.name": "tools/call",
			"ambit.ran": true, "ambit.output.size": int64(11),
		}}},
		{"page", ambit.WebMCP, "notes_inner", "", said{"execute_tool notes_inner", trace.SpanKindServer, codes.Unset, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "webmcp", "ambit.via": "webmcp",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "notes_inner",
			"ambit.ran": true, "ambit.output.size": int64(11),
		}}},
		{"assistant", ambit.Assistant, "notes_inner", "", said{"execute_tool notes_inner", trace.SpanKindInternal, codes.Unset, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "assistant", "ambit.via": "assistant",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "notes_inner",
			"ambit.ran": true, "ambit.output.size": int64(11),
		}}},
		{"schedule", ambit.Schedule, "notes.inner", "", said{"notes.inner", trace.SpanKindInternal, codes.Unset, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "schedule", "ambit.via": "schedule",
			"ambit.ran": true, "ambit.output.size": int64(11),
		}}},
		{"faults", ambit.HTTP, "notes.inner", `{"txet":1,"more":2}`, said{"notes.inner", trace.SpanKindServer, codes.Error, attributes{
			"ambit.capability": "notes.inner", "ambit.effect": "read", "ambit.surface": "http", "ambit.via": "http",
			"error.type": "invalid_input", "ambit.faults": int64(2), "ambit.ran": false, "ambit.input.size": int64(19),
		}}},
		{"failure", ambit.HTTP, "notes.fail", "", said{"notes.fail", trace.SpanKindServer, codes.Error, attributes{
			"ambit.capability": "notes.fail", "ambit.effect": "read", "ambit.surface": "http", "ambit.via": "http",
			"error.type": "upstream", "ambit.ran": true,
		}}},
		{"panic", ambit.MCP, "notes_panic", "", said{"tools/call notes_panic", trace.SpanKindServer, codes.Error, attributes{
			"ambit.capability": "notes.panic", "ambit.effect": "read", "ambit.surface": "mcp", "ambit.via": "mcp",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "notes_panic", "mcp.method.name": "tools/call",
			"error.type": "internal", "ambit.ran": true,
		}}},
		{"unknown", ambit.HTTP, "evil\nname", "", said{"(unknown)", trace.SpanKindServer, codes.Error, attributes{
			"ambit.capability": "(unknown)", "ambit.effect": "(unknown)", "ambit.surface": "http", "ambit.via": "http",
			"error.type": "not_found", "ambit.ran": false,
		}}},
		{"not exposed here", ambit.MCP, "notes_hidden", "", said{"tools/call", trace.SpanKindServer, codes.Error, attributes{
			"ambit.capability": "(unknown)", "ambit.effect": "(unknown)", "ambit.surface": "mcp", "ambit.via": "mcp",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(unknown)", "mcp.method.name": "tools/call",
			"error.type": "not_found", "ambit.ran": false,
		}}},
	} {
		t.Run(test.title, func(t *testing.T) {
			t.Parallel()
			te := newTelemetry(t, ambitotel.Options{})
			_ = invoke(t.Context(), te.app(ambit.Options{}), test.surface, ambit.Request{Name: test.call, Input: []byte(test.input)})
			test.want.Attributes["ambit.request"], test.want.Attributes["ambit.principal.kind"] = "r1", "user"
			got := te.last(t)
			if diff := cmp.Diff(test.want, saidBy(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Events) != 0 || got.Status.Description != "" {
				t.Errorf("want no events and no description, got %v and %q", got.Events, got.Status.Description)
			}
		})
	}
}

// Names of capabilities that belong to one run are not bounded: a page may have
// chosen them.
func TestCapabilitiesOfOneRunAreOneLabel(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	own := ambit.Define(spec("page.pick", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil })
	ctx, run := te.app(ambit.Options{}).NewRun(t.Context(), ambit.RunOptions{
		Principal: alice, Surface: ambit.Assistant, Capabilities: []ambit.AnyCapability{own},
	})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "page_pick"}); err != nil {
		t.Fatal(err)
	}
	got := saidBy(t, te.last(t))
	if got.Name != "execute_tool" || got.Attributes["gen_ai.tool.name"] != "page_pick" {
		t.Errorf("want the tool's name as an attribute alone, got %+v", got)
	}
	want := map[string]int64{"ambit.capability=(run),ambit.surface=assistant": 1}
	if diff := cmp.Diff(want, te.metric(t, "ambit.call.count")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSpansNest(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	app := te.app(ambit.Options{})
	ctx, around := te.tracer.Tracer("test").Start(t.Context(), "request")
	if err := invoke(ctx, app, ambit.MCP, ambit.Request{Name: "notes_outer"}); err != nil {
		t.Fatal(err)
	}
	around.End()
	names := map[trace.SpanID]string{{}: "nothing"}
	for _, s := range te.ended() {
		names[s.SpanContext.SpanID()] = s.Name
	}
	var got []string
	for _, s := range te.ended() {
		got = append(got, s.Name+" in "+names[s.Parent.SpanID()]+", "+s.SpanKind.String())
	}
	want := []string{
		"query in tools/call notes_outer, internal",
		"notes.inner in tools/call notes_outer, internal",
		"tools/call notes_outer in request, server",
		"request in nothing, internal",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	outer, nested := saidBy(t, te.ended()[2]), te.ended()[1]
	if via := saidBy(t, nested).Attributes["ambit.via"]; via != outer.Attributes["ambit.via"] {
		t.Errorf("want the nested call by way of mcp, got %v", via)
	}
	if got, want := attributeOf(nested, "ambit.parent"), attributeOf(te.ended()[2], "ambit.call"); got != want || want == "" {
		t.Errorf("want %q as the nested call's parent, got %q", want, got)
	}
}

func attributeOf(s tracetest.SpanStub, key attribute.Key) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.AsString()
		}
	}
	return ""
}

func TestPersonalDataIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options           ambitotel.Options
		principal, tenant string
	}{
		{ambitotel.Options{}, "", ""},
		{ambitotel.Options{Principals: true}, alice.Key(), ""},
		{ambitotel.Options{Tenants: true}, "", "acme"},
	} {
		te := newTelemetry(t, test.options)
		if err := invoke(t.Context(), te.app(ambit.Options{}), ambit.HTTP, ambit.Request{Name: "notes.inner"}); err != nil {
			t.Fatal(err)
		}
		if got := attributeOf(te.last(t), "ambit.principal"); got != test.principal {
			t.Errorf("%+v: want the principal %q, got %q", test.options, test.principal, got)
		}
		if got := attributeOf(te.last(t), "ambit.tenant"); got != test.tenant {
			t.Errorf("%+v: want the tenant %q, got %q", test.options, test.tenant, got)
		}
	}
}

// panics is a tracer provider whose tracer panics on one name.
type panics struct {
	trace.TracerProvider
	on string
}

func (p panics) Tracer(name string, o ...trace.TracerOption) trace.Tracer {
	return panicking{p.TracerProvider.Tracer(name, o...), p.on}
}

type panicking struct {
	trace.Tracer
	on string
}

func (p panicking) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if name == p.on {
		panic("of the exporter")
	}
	return p.Tracer.Start(ctx, name, o...)
}

// A call whose span could not be begun does not end that of the call around it.
func TestSpanThatFailsToBegin(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	broken := newTelemetry(t, ambitotel.Options{TracerProvider: panics{te.tracer, "notes.inner"}})
	if err := invoke(t.Context(), broken.app(ambit.Options{}), ambit.HTTP, ambit.Request{Name: "notes.outer"}); err != nil {
		t.Fatal(err)
	}
	ended := te.ended()
	if len(ended) != 1 || ended[0].Name != "notes.outer" || attributeOf(ended[0], "ambit.surface") != "http" {
		t.Errorf("want one span of notes.outer, got %v", ended)
	}
	if got := broken.metric(t, "ambit.call.active"); fmt.Sprint(got) != "map[ambit.surface=http:0]" {
		t.Errorf("want nothing active, got %v", got)
	}
}

func TestTwoObserversKeepTheirOwn(t *testing.T) {
	t.Parallel()
	first, second := newTelemetry(t, ambitotel.Options{}), newTelemetry(t, ambitotel.Options{})
	app := second.app(ambit.Options{Observers: []ambit.Observer{first.observer}})
	if err := invoke(t.Context(), app, ambit.HTTP, ambit.Request{Name: "notes.inner"}); err != nil {
		t.Fatal(err)
	}
	if len(first.ended()) != 1 || len(second.ended()) != 1 {
		t.Errorf("want a span each, got %d and %d", len(first.ended()), len(second.ended()))
	}
}
