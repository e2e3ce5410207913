package ambitotel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambitotel"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	te := newTelemetry(t, ambitotel.Options{})
	app := te.app(ambit.Options{Limits: ambit.Limits{Rate: ambit.Rate{Calls: 1, Per: time.Hour, Burst: 7}}})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range []struct {
		ctx     context.Context
		surface ambit.Surface
		request ambit.Request
	}{
		{t.Context(), ambit.HTTP, ambit.Request{Name: "notes.outer", Input: []byte(`{"text":"a"}`)}},
		{t.Context(), ambit.HTTP, ambit.Request{Name: "notes.inner", Input: []byte(`{"txet":"a"}`)}},
		{t.Context(), ambit.HTTP, ambit.Request{Name: "notes.fail"}},
		{t.Context(), ambit.MCP, ambit.Request{Name: "notes_panic"}},
		{t.Context(), ambit.MCP, ambit.Request{Name: "notes_outer"}},
		{t.Context(), ambit.MCP, ambit.Request{Name: "nothing"}},
		{canceled, ambit.Schedule, ambit.Request{Name: "notes.inner"}},
		{t.Context(), ambit.Schedule, ambit.Request{Name: "notes.write"}},
		{t.Context(), ambit.HTTP, ambit.Request{Name: "notes.inner"}},
	} {
		_ = invoke(call.ctx, app, call.surface, call.request)
	}
	for _, test := range []struct {
		name string
		want map[string]int64
	}{
		{"ambit.call.count", map[string]int64{
			"ambit.capability=notes.outer,ambit.surface=http":                          1,
			"ambit.capability=notes.inner,ambit.surface=in-process":                    2,
			"ambit.capability=notes.inner,ambit.surface=http,error.type=invalid_input": 1,
			"ambit.capability=notes.fail,ambit.surface=http,error.type=upstream":       1,
			"ambit.capability=notes.panic,ambit.surface=mcp,error.type=internal":       1,
			"ambit.capability=notes.outer,ambit.surface=mcp":                           1,
			"ambit.capability=(unknown),ambit.surface=mcp,error.type=not_found":        1,
			"ambit.capability=notes.inner,ambit.surface=schedule,error.type=canceled":  1,
			"ambit.capability=notes.write,ambit.surface=schedule,error.type=declined":  1,
			"ambit.capability=notes.inner,ambit.surface=http,error.type=rate_limited":  1,
		}},
		{"ambit.call.refusals", map[string]int64{
			"ambit.capability=notes.inner,ambit.surface=http,error.type=invalid_input":                 1,
			"ambit.capability=(unknown),ambit.surface=mcp,error.type=not_found":                        1,
			"ambit.capability=notes.inner,ambit.surface=schedule,error.type=canceled":                  1,
			"ambit.capability=notes.write,ambit.surface=schedule,error.type=declined":                  1,
			"ambit.capability=notes.inner,ambit.limit=rate,ambit.surface=http,error.type=rate_limited": 1,
		}},
		{"ambit.call.active", map[string]int64{
			"ambit.surface=http": 0, "ambit.surface=mcp": 0, "ambit.surface=schedule": 0, "ambit.surface=in-process": 0,
		}},
		{"ambit.call.wait.duration", map[string]int64{}},
		{"ambit.call.input.size", map[string]int64{
			"ambit.capability=notes.outer,ambit.surface=http":                          1,
			"ambit.capability=notes.inner,ambit.surface=http,error.type=invalid_input": 1,
		}},
		{"ambit.call.output.size", map[string]int64{
			"ambit.capability=notes.outer,ambit.surface=http": 1,
			"ambit.capability=notes.outer,ambit.surface=mcp":  1,
		}},
		{"mcp.server.operation.duration", map[string]int64{
			"error.type=internal,gen_ai.operation.name=execute_tool,gen_ai.tool.name=notes_panic,mcp.method.name=tools/call": 1,
			"gen_ai.operation.name=execute_tool,gen_ai.tool.name=notes_outer,mcp.method.name=tools/call":                     1,
			"error.type=not_found,gen_ai.operation.name=execute_tool,gen_ai.tool.name=(unknown),mcp.method.name=tools/call":  1,
		}},
	} {
		if diff := cmp.Diff(test.want, te.metric(t, test.name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if diff := cmp.Diff(te.metric(t, "ambit.call.count"), te.metric(t, "ambit.call.duration")); diff != "" {
		t.Errorf("every call has a duration (-count +duration):\n%s", diff)
	}
}

// What counts as active is given back however a call ends.
func TestActiveReturnsToZero(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, call string
		want       ambit.Code
		cancel     bool
	}{
		{"success", "notes.outer", "", false},
		{"panic", "notes.panic", ambit.CodeInternal, false},
		{"canceled in the handler", "notes.wait", ambit.CodeCanceled, true},
		{"unknown", "nothing", ambit.CodeNotFound, false},
	} {
		te := newTelemetry(t, ambitotel.Options{})
		active := map[string]int64{}
		ctx, cancel := context.WithCancel(t.Context())
		app := te.app(ambit.Options{Middleware: []ambit.Middleware{{Name: "look", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			if len(active) == 0 {
				active = te.metric(t, "ambit.call.active")
			}
			if test.cancel {
				cancel()
			}
			return next(ctx)
		}}}})
		if got := ambit.CodeOf(invoke(ctx, app, ambit.HTTP, ambit.Request{Name: test.call})); got != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
		cancel()
		if got := active["ambit.surface=http"]; test.want != ambit.CodeNotFound && got != 1 {
			t.Errorf("%s: want 1 active while it runs, got %d", test.name, got)
		}
		for attributes, left := range te.metric(t, "ambit.call.active") {
			if left != 0 {
				t.Errorf("%s: want none left of %s, got %d", test.name, attributes, left)
			}
		}
	}
}

// slow is a person who takes their time.
type slow struct{ answer ambit.Answer }

func (s slow) Ask(context.Context, ambit.Question) (ambit.Answer, error) {
	time.Sleep(3 * time.Hour)
	return s.answer, nil
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, answer := range []ambit.Answer{ambit.Allow, ambit.Deny} {
		synctest.Test(t, func(t *testing.T) {
			te := newTelemetry(t, ambitotel.Options{})
			ctx, run := te.app(ambit.Options{}).NewRun(t.Context(), ambit.RunOptions{
				Principal: alice, Surface: ambit.Assistant, Prompter: slow{answer},
			})
			defer run.End()
			_, err := run.Invoke(ctx, ambit.Request{Name: "notes_write"})
			if answer == ambit.Allow && err != nil {
				t.Fatal(err)
			}
			span := te.last(t)
			if got := span.EndTime.Sub(span.StartTime); got != 3*time.Hour {
				t.Errorf("want a span of 3 h, got %v", got)
			}
			if got := saidBy(t, span).Attributes["ambit.waited"]; got != (3 * time.Hour).Seconds() {
				t.Errorf("want 3 h waited, got %v", got)
			}
			for name, want := range map[string]float64{"ambit.call.duration": 0, "ambit.call.wait.duration": (3 * time.Hour).Seconds()} {
				if got := te.sum(t, name); got != want {
					t.Errorf("%s: want %v s, got %v", name, want, got)
				}
			}
		})
	}
}

// sum adds up what was recorded with a histogram.
func (te *telemetry) sum(t *testing.T, name string) (sum float64) {
	t.Helper()
	for _, m := range te.metrics(t) {
		if data, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == name {
			for _, p := range data.DataPoints {
				sum += p.Sum
			}
		}
	}
	return sum
}

// noMeter makes no instruments of one kind.
type noMeter struct{ noop.MeterProvider }

func (noMeter) Meter(string, ...metric.MeterOption) metric.Meter { return refusing{} }

type refusing struct{ noop.Meter }

func (refusing) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errors.New("no counter of the name " + name)
}

func TestNewFailsWithoutInstruments(t *testing.T) {
	t.Parallel()
	observer, err := ambitotel.New(ambitotel.Options{MeterProvider: noMeter{}})
	if err == nil || observer != nil {
		t.Fatalf("want an error, got %v", observer)
	}
	want := "no counter of the name ambit.call.count\nno counter of the name ambit.call.refusals"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
