package ambitotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/ambit-dev/ambit/ambitotel"

// Options configure an observer. The zero value reports to the global providers,
// believes nobody's trace context and names nobody.
type Options struct {
	// TracerProvider makes the tracer. Nil: the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. Nil: the global one.
	MeterProvider metric.MeterProvider
	// TrustCaller reports whether the trace context that came with a call over
	// HTTP, MCP or from a page is to be believed: the span then continues the
	// caller's trace, under the caller's decision about sampling. The event
	// has the caller's principal, tenant and kind, which the surface has
	// verified; the context descends from the request's, with what the
	// application's own net/http middleware has put there. It must be safe for
	// concurrent use. One that panics has not trusted. Nil: nobody is trusted.
	TrustCaller func(ctx context.Context, e ambit.Event) bool
	// Principals puts the keys of the caller, and of who delegated to it, on
	// spans. It is personal data. False: they are left out.
	Principals bool
	// Tenants puts the caller's tenant on spans. False: it is left out.
	Tenants bool
}

// New returns an observer for [ambit.Options.Observers]. It fails where the meter
// cannot make the instruments. An observer is safe for concurrent use, and may
// serve several applications.
func New(o Options) (ambit.Observer, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	made, err := newInstruments(o.MeterProvider.Meter(scope))
	if err != nil {
		return nil, err
	}
	return &observer{
		tracer: o.TracerProvider.Tracer(scope), instruments: made, trust: o.TrustCaller,
		principals: o.Principals, tenants: o.Tenants,
	}, nil
}
