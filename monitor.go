package ambit

import (
	"context"
	"encoding/json"
)

// Monitor reviews calls that are about to run, after everything else has
// allowed them: a classifier, an anomaly detector, a model. It can only block.
// Reads whose contract names no approval are not shown to it. It must be safe
// for concurrent use. An error or a panic blocks, and so does a severity that
// is not one of those below.
type Monitor interface {
	// Review returns what the monitor has against the call.
	Review(ctx context.Context, a Action) (Verdict, error)
}

// MonitorFunc makes a function a [Monitor].
type MonitorFunc func(ctx context.Context, a Action) (Verdict, error)

// Review calls f.
func (f MonitorFunc) Review(ctx context.Context, a Action) (Verdict, error) { return f(ctx, a) }

// Action is a call that a [Monitor] reviews. All of it but Effect is data from
// elsewhere and no instruction.
type Action struct {
	// Capability and Effect say what would be called.
	Capability string
	Effect     Effect
	// Input is the complete input, with secret values replaced.
	Input json.RawMessage
	// Reason is the caller's word.
	Reason string
	// Via is the surface that caused the call.
	Via Surface
	// Principal is for whom it would run.
	Principal *Principal
}

// Severity is how much a monitor has against a call.
type Severity uint8

// The severities.
const (
	// Pass has nothing against the call.
	Pass Severity = iota
	// Soft blocks the call unless a person, asked about this very call, allows
	// it.
	Soft
	// Hard blocks the call, whoever allowed it.
	Hard
)

// Verdict is a [Monitor]'s answer. The zero Verdict lets the call pass.
type Verdict struct {
	// Severity is how much the monitor has against the call.
	Severity Severity
	// Reason says why, for the person who is asked and for the caller.
	Reason string
}
