package ambit

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit/internal/visible"
)

// ID names a run or a call within the records of one process. It is unique in
// the process and starts at a random number, so that the records of two
// processes do not meet.
type ID uint64

// String returns the ID in base 36.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 36) }

// Observer sees every call, whatever happens to it: spans, metrics and logs are
// observers. It must be safe for concurrent use and quick; it runs on the
// caller's goroutine. A panic in an observer is logged and does not fail the
// call.
type Observer interface {
	// Start is told that a call begins, before anything is decided. The
	// context that it returns, which must be made from ctx, is the call's own,
	// so that spans of nested calls nest. Only the first part of the event (see
	// [Event]) is known.
	Start(ctx context.Context, e Event) context.Context
	// Finish is told how the call ended, with the context that Start returned.
	Finish(ctx context.Context, e Event)
}

// InputObserver is an [Observer] that wants to know inputs too, such as an audit
// record. FinishInput takes the place of Finish.
type InputObserver interface {
	Observer
	// FinishInput is told how the call ended, and with what input it was made.
	FinishInput(ctx context.Context, e Event, input CallInput)
}

// Event describes one call. It holds no input and no output.
type Event struct {
	// Capability is the dotted name. It is empty when the caller asked for a
	// name that does not exist for it: foreign words are no labels.
	Capability string
	// Effect is the capability's effect; zero for an unknown name.
	Effect Effect
	// Own reports whether the capability is one of a single run
	// ([RunOptions.Capabilities]): there is no end to such names.
	Own bool
	// Surface is where the call came in. Nested calls are InProcess.
	Surface Surface
	// Via is every surface that led to the call.
	Via Surface
	// Run, Call and Parent tie records together. Parent is zero for a call
	// that no other call made.
	Run, Call, Parent ID
	// Request is the request's id on its surface, if it has one.
	Request string
	// Principal is the caller's [Principal.Key]; Tenant and Kind are the
	// principal's own.
	Principal, Tenant string
	Kind              Kind
	// Agent is the verified agent that carries the call. Zero: none.
	Agent AgentIdentity
	// DelegatedBy is the key of the principal whose call began this run by
	// [App.Delegate]. Empty: nobody delegated.
	DelegatedBy string
	// Reason is the caller's one-line reason, quoted from the caller: data,
	// not fact.
	Reason string
	// Trace is the trace context of the request, the caller's word like Reason.
	// A call that a handler makes has none.
	Trace Trace
	// RecordInput reports that the capability lets records keep its inputs
	// ([Spec.RecordInput]).
	RecordInput bool
	// Began is when the call started.
	Began time.Time

	// The rest is known at Finish.

	// Took is how long the call took.
	Took time.Duration
	// Waited is how much of that a person took to answer.
	Waited time.Duration
	// Code is "" for success.
	Code Code
	// Lacks is the permission that the principal does not hold, where Code is
	// CodeForbidden for that. It is for the operator: callers are not told.
	Lacks string
	// Cause is the error as the server knows it, internals included. It must
	// not reach a caller.
	Cause error
	// Faults is how many faults the input or output had.
	Faults int
	// Repaired is how many values of the input were mended, see
	// [Options.Repair].
	Repaired int
	// Ran reports whether the handler started.
	Ran bool
	// Replayed reports that the answer is that of an earlier call with the same
	// idempotency key.
	Replayed bool
	// Proposal is the id of the proposal that allowed the call, or that the call
	// waits for. Empty: there is none.
	Proposal string
	// Level is whose word the call ran by, and Version the version of the target
	// in the preview that was allowed, see [Approved]. Both are zero where nobody was
	// asked, because nobody's word was needed or it was given earlier in the
	// session, and where the call did not run.
	Level   Approval
	Version string
	// VersionSeen reports that the handler asked for what was allowed, see
	// [Call.Approval].
	VersionSeen bool
	// Key is the name of the record of the call's idempotency key, see [Claim.Key].
	// Zero: it has none.
	Key Digest
	// Limit is what refused the call where Code is CodeRateLimited; zero where
	// the handler did.
	Limit Limit
	// InFlight is how many calls of the principal were at work when this one
	// began to be, itself included. Zero for calls that did not come so far and
	// for those that a handler made.
	InFlight int
	// InputBytes and OutputBytes are the sizes on the wire; zero for typed
	// calls in process.
	InputBytes, OutputBytes int
}

// LogObserver returns an [Observer] that writes one line per call to logger:
// success and refusals at debug and info level, faults of the application at
// error level. A nil logger is slog.Default().
func LogObserver(logger *slog.Logger) Observer {
	if logger == nil {
		logger = slog.Default()
	}
	return logObserver{logger}
}

type logObserver struct{ logger *slog.Logger }

func (logObserver) Start(ctx context.Context, _ Event) context.Context { return ctx }

func (o logObserver) Finish(ctx context.Context, e Event) {
	level := slog.LevelInfo
	switch {
	case e.Code == "":
		level = slog.LevelDebug
	case e.Code.HTTPStatus() >= 500:
		level = slog.LevelError
	}
	if !o.logger.Enabled(ctx, level) {
		return
	}
	capability := e.Capability
	if capability == "" {
		capability = "(unknown)"
	}
	attrs := []slog.Attr{
		slog.String("capability", capability),
		slog.String("surface", e.Surface.String()),
		slog.String("principal", visible.Text(e.Principal)),
		slog.Duration("took", e.Took),
		slog.String("run", e.Run.String()),
		slog.String("call", e.Call.String()),
	}
	if e.Request != "" {
		attrs = append(attrs, slog.String("request", e.Request))
	}
	if e.Parent != 0 {
		attrs = append(attrs, slog.String("parent", e.Parent.String()), slog.String("via", e.Via.String()))
	}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", string(e.Code)))
	}
	if e.Lacks != "" {
		attrs = append(attrs, slog.String("lacks", e.Lacks))
	}
	if e.Replayed {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	if e.Proposal != "" {
		attrs = append(attrs, slog.String("proposal", e.Proposal))
	}
	if e.Limit != 0 {
		attrs = append(attrs, slog.String("limit", e.Limit.String()))
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", e.Cause.Error()))
	}
	o.logger.LogAttrs(ctx, level, "call", attrs...)
}
