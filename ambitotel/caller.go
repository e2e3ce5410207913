package ambitotel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
)

// place decides where in which trace a call belongs. It returns a context whose
// span is to be the parent, and a span to link to, which may be none.
//
// A remote span in the context counts as the caller's word like that of the
// request: middleware of the application has read it from there. A span that the
// application has begun around the request is its own, and the parent, except
// that MCP's conventions put the caller of a message above the connection which
// carries it.
func (o *observer) place(ctx context.Context, e ambit.Event) (context.Context, trace.SpanContext) {
	if !fromOutside(e) {
		return ctx, trace.SpanContext{}
	}
	around := trace.SpanContextFromContext(ctx)
	caller := said(e.Trace)
	if !caller.IsValid() && around.IsRemote() {
		caller = around
	}
	if !o.trusts(ctx, e) {
		if around.IsRemote() {
			ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
		}
		return baggage.ContextWithoutBaggage(ctx), plain(caller)
	}
	switch {
	case !caller.IsValid():
		return ctx, trace.SpanContext{}
	case !around.IsValid() || around.IsRemote():
		return trace.ContextWithRemoteSpanContext(ctx, caller), trace.SpanContext{}
	case e.Surface == ambit.MCP:
		return trace.ContextWithRemoteSpanContext(ctx, caller), around
	}
	return ctx, caller
}

// trusts asks the application about a caller.
func (o *observer) trusts(ctx context.Context, e ambit.Event) (trusted bool) {
	if o.trust == nil {
		return false
	}
	defer func() {
		if v := recover(); v != nil {
			otel.Handle(fmt.Errorf("ambitotel: Options.TrustCaller panicked: %v", v))
			trusted = false
		}
	}()
	return o.trust(ctx, e)
}

// plain keeps of a span what names it: the flags and the state of a stranger,
// which samplers obey and vendors read, are dropped.
func plain(c trace.SpanContext) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: c.TraceID(), SpanID: c.SpanID(), Remote: true})
}

// said reads the trace context of a request (W3C Trace Context, level 2, sections
// 3.2 and 3.3). One that is not well formed is none.
func said(t ambit.Trace) trace.SpanContext {
	if t.Parent == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier(t)))
}

// carrier gives a trace context to the propagator that reads it.
type carrier ambit.Trace

// Get returns one of the two values.
func (c carrier) Get(key string) string {
	switch key {
	case "traceparent":
		return c.Parent
	case "tracestate":
		return c.State
	}
	return ""
}

// Set does nothing: a request is only read.
func (carrier) Set(string, string) {}

// Keys returns the names of the two values.
func (carrier) Keys() []string { return []string{"traceparent", "tracestate"} }
