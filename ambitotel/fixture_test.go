package ambitotel_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambitotel"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// telemetry is an observer with an SDK behind it that keeps everything.
type telemetry struct {
	observer ambit.Observer
	tracer   *sdktrace.TracerProvider
	spans    *tracetest.SpanRecorder
	reader   *sdkmetric.ManualReader
}

func newTelemetry(t testing.TB, o ambitotel.Options) *telemetry {
	t.Helper()
	te := &telemetry{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	te.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(te.spans))
	if o.TracerProvider == nil {
		o.TracerProvider = te.tracer
	}
	o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(te.reader))
	observer, err := ambitotel.New(o)
	if err != nil {
		t.Fatal(err)
	}
	te.observer = observer
	return te
}

// ended returns the spans in the order in which they ended.
func (te *telemetry) ended() tracetest.SpanStubs {
	return tracetest.SpanStubsFromReadOnlySpans(te.spans.Ended())
}

// last returns the span that ended last.
func (te *telemetry) last(t testing.TB) tracetest.SpanStub {
	t.Helper()
	ended := te.ended()
	if len(ended) == 0 {
		t.Fatal("no span has ended")
	}
	return ended[len(ended)-1]
}

// metric returns the values of an instrument by their attributes: sums, or for
// a histogram how often it was recorded.
func (te *telemetry) metric(t testing.TB, name string) map[string]int64 {
	t.Helper()
	values := map[string]int64{}
	for _, m := range te.metrics(t) {
		if m.Name != name {
			continue
		}
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				values[encoded(p.Attributes)] = p.Value
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				values[encoded(p.Attributes)] = int64(p.Count)
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				values[encoded(p.Attributes)] = int64(p.Count)
			}
		default:
			t.Fatalf("%s is a %T", name, m.Data)
		}
	}
	return values
}

func (te *telemetry) metrics(t testing.TB) []metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := te.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.ScopeMetrics) != 1 {
		t.Fatalf("want one scope, got %d", len(all.ScopeMetrics))
	}
	return all.ScopeMetrics[0].Metrics
}

// encoded writes a set as "name=value,...", by name.
func encoded(set attribute.Set) string { return set.Encoded(attribute.DefaultEncoder()) }

type textInput struct {
	Text string `json:"text,omitempty" maxLength:"20"`
}

type textOutput struct {
	Text string `json:"text"`
}

// inner is what the capability "outer" calls.
var inner = ambit.NewContract[textInput, textOutput](spec("notes.inner", ambit.Read))

const everywhere = ambit.HTTP | ambit.MCP | ambit.WebMCP | ambit.Assistant | ambit.Sandbox | ambit.Schedule

func spec(name string, effect ambit.Effect) ambit.Spec {
	s := ambit.Spec{Name: name, Description: "Tests " + name + ".", Effect: effect, Permission: ambit.Public, Expose: everywhere}
	return s
}

// app is an application in which every outcome of a call has a name.
func (te *telemetry) app(o ambit.Options) *ambit.App {
	o.Name, o.Logger = "fixture", slog.New(slog.DiscardHandler)
	o.Observers = append(o.Observers, te.observer)
	app := ambit.New(o)
	hidden, member := spec("notes.hidden", ambit.Read), spec("notes.member", ambit.Read)
	hidden.Expose, member.Permission = ambit.Schedule, ambit.Authenticated
	app.Add(
		inner.Bind(func(_ context.Context, in textInput) (textOutput, error) { return textOutput(in), nil }),
		ambit.Define(spec("notes.outer", ambit.Read), func(ctx context.Context, in textInput) (textOutput, error) {
			_, span := te.tracer.Tracer("handler").Start(ctx, "query")
			span.End()
			return inner.Call(ctx, in)
		}),
		ambit.Define(spec("notes.fail", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, errors.New("text of the server")
		}),
		ambit.Define(spec("notes.panic", ambit.Read), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			panic("text of the server")
		}),
		ambit.Define(spec("notes.wait", ambit.Read), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
			<-ctx.Done()
			return ambit.Empty{}, ctx.Err()
		}),
		ambit.Define(spec("notes.write", ambit.Write), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, nil
		}),
		ambit.Define(hidden, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }),
		ambit.Define(member, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }),
	)
	return app
}

var alice = &ambit.Principal{Authority: "test", Subject: "alice", Tenant: "acme", Claims: map[string]any{"email": "alice@example.com"}}

// invoke makes one call as alice.
func invoke(ctx context.Context, app *ambit.App, s ambit.Surface, r ambit.Request) error {
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: alice, Surface: s, Request: "r1"})
	defer run.End()
	_, err := run.Invoke(ctx, r)
	return err
}

// callHTTP calls "notes.inner" over the JSON API with the headers that are given
// in turn, and a context that middleware may have adjusted.
func callHTTP(t testing.TB, ctx context.Context, app *ambit.App, headers ...string) {
	t.Helper()
	api, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/api/notes/inner", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if api.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("want 200, got %d %s", w.Code, w.Body)
	}
}

// callMCP calls "notes_inner" over MCP with a _meta.
func callMCP(t testing.TB, ctx context.Context, app *ambit.App, meta string) {
	t.Helper()
	server, err := mcp.New(app, mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_inner","_meta":`+meta+`}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if server.ServeHTTP(w, r); w.Code != 200 || strings.Contains(w.Body.String(), "isError") {
		t.Errorf("want a result, got %d %s", w.Code, w.Body)
	}
}
