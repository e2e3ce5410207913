package ambit

import (
	"cmp"
	"context"
	"time"
)

// Request is one call as a surface hands it over: translated, not judged.
type Request struct {
	// Name is the capability's dotted name; on MCP, page tools, assistants and
	// sandboxes its tool name, with underscores for dots.
	Name string
	// Asked is what the caller called it by, where that is not Name: an HTTP
	// path, say. The answer for an unknown name repeats it and no other, so that
	// a name which is hidden does not come out. Empty: Name.
	Asked string
	// Input is the input's JSON text. Empty means {}. It is not kept.
	Input []byte
	// Reason is what the caller gives as its reason: one line, cut to 200
	// characters. It is recorded, shown and never trusted.
	Reason string
	// Mode asks for less than the run may do without asking; a looser one than
	// the run's has no effect. Zero: the run's.
	Mode Mode
	// IdempotencyKey is the key that the client chose, 1 to 255 visible ASCII
	// characters: what has been done under it is not done again, see
	// [Options.Ledger]. Reads pay no heed to it. Empty: none.
	IdempotencyKey string
	// Confirmation is the token that confirms this very call, which
	// [Awaited.Token] gave out when it was prepared. It counts where the call
	// has to be confirmed. Empty: none.
	Confirmation string
	// Repeats is [Awaited.Operation] of an earlier answer that the call says it
	// repeats: where it has to be confirmed or approved and is another one, it is
	// refused. It allows nothing. Zero: it says nothing of the kind.
	Repeats Digest
	// Trace is the trace context that the request carries, for observers. A
	// half of more than 512 bytes is dropped. Zero: none.
	Trace Trace
	// Progress takes what the handler says through [Call.Progress]. Nil:
	// nobody listens. Calls of it do not overlap, and none comes after Invoke
	// has returned.
	Progress func(Progress)
	// Into is a buffer that the output's JSON is appended to, so that a
	// surface can write its envelope around it. Nil: a new one.
	Into []byte
	// WantText asks for the text form and content as well.
	WantText bool
}

// Result is what a successful call gave.
type Result struct {
	// Capability is what was called.
	Capability AnyContract
	// Buffer is Request.Into with the output appended.
	Buffer []byte
	// Output is the output's JSON, a part of Buffer.
	Output []byte
	// Text is the capability's own text form, where HasText: what its WithText
	// gave, or the output itself where that is a string. Otherwise the text
	// form is Output.
	Text    string
	HasText bool
	// Content is what the capability's WithContent gave.
	Content []Content
	// Replayed says that nothing ran: this is the result of an earlier call with
	// the same idempotency key.
	Replayed bool
}

// Invoke makes one call from JSON text, for surfaces. Ctx must come from
// [App.NewRun] of this run, or from a call within it. Errors are [*Error], and
// complete: a surface sends them as they are.
func (r *Run) Invoke(ctx context.Context, request Request) (Result, error) {
	if r == nil {
		return Result{}, (&Error{Code: CodeUnauthenticated}).completed(ErrorOptions{})
	}
	if RunFromContext(ctx) != r {
		e := &Error{Code: CodeInternal, cause: errorText("Run.Invoke with a context that is not the run's")}
		return Result{}, e.completed(r.app.errorOptions())
	}
	parent := FromContext(ctx)
	surface := r.surface
	if parent != nil && parent.run == r {
		surface = InProcess
	}
	result, failure := r.app.invoke(ctx, r, parent, invocation{Request: request, entry: r.find(surface, request.Name)})
	if failure != nil {
		return Result{}, failure
	}
	return result, nil
}

// callTyped is Invoke for Go values: the same pipeline without JSON.
func callTyped[In, Out any](ctx context.Context, c *Contract[In, Out], in In, options []CallOption) (Out, error) {
	var none Out
	run := RunFromContext(ctx)
	if run == nil {
		e := &Error{Code: CodeUnauthenticated, Message: "This call belongs to no run.", Hint: "Make the call with a context from App.NewRun."}
		return none, e
	}
	call := invocation{Request: Request{Name: c.c.spec.Name}, typed: true}
	if len(options) > 0 {
		call.Request = withOptions(call.Request, options)
	}
	frame := &typedFrame[In, Out]{in: in}
	call.entry, call.frame = run.find(InProcess, c.c.spec.Name), frame
	if _, failure := run.app.invoke(ctx, run, FromContext(ctx), call); failure != nil {
		return none, failure
	}
	return frame.out, nil
}

func (r *Request) asked() string { return cmp.Or(r.Asked, r.Name) }

// invocation is one call on its way through the pipeline.
type invocation struct {
	Request
	entry *entry // nil: no such name
	began time.Time
	frame frame  // set by the input step where typed is false
	text  []byte // the input in canonical form, where a digest of it counts
	typed bool   // the input is in frame already, and the output stays there

	checked bool   // the input is valid
	concern string // what the application's monitor has against the call
}

// CallOption adjusts one call of [Contract.Call].
type CallOption interface{ apply(*Request) }

type callOption func(*Request)

func (o callOption) apply(r *Request) { o(r) }

// WithMode asks for less than the run may do without asking; a looser mode than
// the run's has no effect.
func WithMode(m Mode) CallOption {
	return callOption(func(r *Request) { r.Mode = m })
}

// WithReason gives the one-line reason of a call, for records and for people
// who are asked about it.
func WithReason(reason string) CallOption {
	return callOption(func(r *Request) { r.Reason = reason })
}

// WithIdempotencyKey makes a call happen once, however often it is repeated with
// the same key and input; see [Request.IdempotencyKey]. A repetition gets the
// result of the first call, as its JSON form tells it: what a type keeps out of
// that is not there. An empty key is none. Keys that a handler gives are apart from those of its
// callers, and from those of other capabilities' handlers.
func WithIdempotencyKey(key string) CallOption {
	return callOption(func(r *Request) { r.IdempotencyKey = key })
}

// WithConfirmation confirms a call that was answered CodeConfirmationRequired
// before, with the token of [Error.Approval].
func WithConfirmation(token string) CallOption {
	return callOption(func(r *Request) { r.Confirmation = token })
}

func withOptions(r Request, options []CallOption) Request {
	for _, option := range options {
		option.apply(&r)
	}
	return r
}
