package ambitotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ambit-dev/ambit"
)

// instruments are what calls are measured with.
type instruments struct {
	count    metric.Int64Counter
	refusals metric.Int64Counter
	active   metric.Int64UpDownCounter
	duration metric.Float64Histogram
	wait     metric.Float64Histogram
	input    metric.Int64Histogram
	output   metric.Int64Histogram
	mcp      metric.Float64Histogram
}

func newInstruments(meter metric.Meter) (*instruments, error) {
	var i instruments
	var errs [8]error
	i.count, errs[0] = meter.Int64Counter("ambit.call.count",
		metric.WithUnit("{call}"), metric.WithDescription("Calls that have ended."))
	i.refusals, errs[1] = meter.Int64Counter("ambit.call.refusals",
		metric.WithUnit("{call}"), metric.WithDescription("Calls that have ended before their handler started."))
	i.active, errs[2] = meter.Int64UpDownCounter("ambit.call.active",
		metric.WithUnit("{call}"), metric.WithDescription("Calls that have begun and not ended."))
	i.duration, errs[3] = meter.Float64Histogram("ambit.call.duration",
		metric.WithUnit("s"), metric.WithDescription("How long calls took, without the time that a person took to answer."),
		metric.WithExplicitBucketBoundaries(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30))
	i.wait, errs[4] = meter.Float64Histogram("ambit.call.wait.duration",
		metric.WithUnit("s"), metric.WithDescription("How long a person took to answer, for calls that waited."),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 120, 300, 900, 3600, 14400))
	i.input, errs[5] = meter.Int64Histogram("ambit.call.input.size",
		metric.WithUnit("By"), metric.WithDescription("Size of the input of calls that came as JSON."), sizes())
	i.output, errs[6] = meter.Int64Histogram("ambit.call.output.size",
		metric.WithUnit("By"), metric.WithDescription("Size of the output of calls that came as JSON."), sizes())
	// Name, unit and boundaries are those of the MCP conventions.
	i.mcp, errs[7] = meter.Float64Histogram("mcp.server.operation.duration",
		metric.WithUnit("s"), metric.WithDescription("How long MCP requests took from their arrival to their result."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return &i, nil
}

// sizes are powers of four up to what a call may have by default.
func sizes() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(64, 256, 1<<10, 4<<10, 16<<10, 64<<10, 256<<10, 1<<20)
}

func (i *instruments) begin(ctx context.Context, e ambit.Event) {
	i.active.Add(ctx, 1, metric.WithAttributes(keySurface.String(e.Surface.String())))
}

// end takes back what begin has counted.
func (i *instruments) end(ctx context.Context, e ambit.Event) {
	i.active.Add(ctx, -1, metric.WithAttributes(keySurface.String(e.Surface.String())))
}

// measure counts a call that has ended.
func (i *instruments) measure(ctx context.Context, e ambit.Event) {
	attributes := append(make([]attribute.KeyValue, 0, 4), keyCapability.String(label(e)), keySurface.String(e.Surface.String()))
	if e.Code != "" {
		attributes = append(attributes, errorType(e))
	}
	set := metric.WithAttributeSet(attribute.NewSet(attributes...))
	i.count.Add(ctx, 1, set)
	i.duration.Record(ctx, (e.Took - e.Waited).Seconds(), set)
	if e.Waited > 0 {
		i.wait.Record(ctx, e.Waited.Seconds(), set)
	}
	if e.InputBytes > 0 {
		i.input.Record(ctx, int64(e.InputBytes), set)
	}
	if e.OutputBytes > 0 {
		i.output.Record(ctx, int64(e.OutputBytes), set)
	}
	if e.Surface == ambit.MCP {
		i.mcp.Record(ctx, e.Took.Seconds(), metric.WithAttributes(mcpAttributes(e)...))
	}
	if e.Code == "" || e.Ran {
		return
	}
	if e.Limit != 0 {
		set = metric.WithAttributeSet(attribute.NewSet(append(attributes, keyLimit.String(e.Limit.String()))...))
	}
	i.refusals.Add(ctx, 1, set)
}

// mcpAttributes are those of the MCP conventions.
func mcpAttributes(e ambit.Event) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 4), keyMCPMethod.String(toolsCall), keyOperation.String(executeTool), keyToolName.String(toolName(label(e))))
	if e.Code != "" {
		attributes = append(attributes, errorType(e))
	}
	return attributes
}
