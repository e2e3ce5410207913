package ambitotel

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
)

type observer struct {
	tracer      trace.Tracer
	instruments *instruments
	trust       func(context.Context, ambit.Event) bool
	principals  bool
	tenants     bool
}

// underway is what is kept of a call between its start and its end.
type underway struct {
	call       ambit.ID
	capability string
	span       trace.Span
}

// underwayKey finds a call in its context. It has the observer, so that two of
// them in one application do not end each other's spans.
type underwayKey struct{ *observer }

// Start begins the call's span and counts the call as active.
func (o *observer) Start(ctx context.Context, e ambit.Event) context.Context {
	ctx, link := o.place(ctx, e)
	options := []trace.SpanStartOption{
		trace.WithTimestamp(e.Began), trace.WithSpanKind(kind(e)), trace.WithAttributes(o.known(e)...),
	}
	if link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	ctx, span := o.tracer.Start(ctx, spanName(e), options...)
	o.instruments.begin(ctx, e)
	return context.WithValue(ctx, underwayKey{o}, &underway{e.Call, e.Capability, span})
}

// Finish measures the call and ends its span. The context is another call's where
// Start did not get to its end, and then there is nothing to end.
func (o *observer) Finish(ctx context.Context, e ambit.Event) {
	o.instruments.measure(ctx, e)
	u, _ := ctx.Value(underwayKey{o}).(*underway)
	if u == nil || u.call != e.Call {
		return
	}
	o.instruments.end(ctx, e)
	defer u.span.End(trace.WithTimestamp(e.Began.Add(e.Took)))
	if !u.span.IsRecording() {
		return
	}
	if u.capability != e.Capability { // it turned out to be none for this caller
		u.span.SetName(spanName(e))
		u.span.SetAttributes(identity(e)...)
	}
	u.span.SetAttributes(outcome(e)...)
	if e.Code != "" {
		u.span.SetStatus(codes.Error, "")
	}
}
