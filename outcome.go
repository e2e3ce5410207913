package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"

	"github.com/ambit-dev/ambit/schema"
)

// Bounds of what a handler's own error may carry.
const (
	maxMessage = 1000
	maxDetails = 4 << 10
	maxReason  = 200
)

// contextError is the outcome of a context that has ended.
func contextError(err error) *Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: CodeDeadlineExceeded, cause: err}
	}
	return &Error{Code: CodeCanceled, cause: err}
}

// handlerError turns what the application returned (handler, middleware or
// rule) into what the caller may see.
func (a *App) handlerError(call *Call, err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if ok && e == nil {
		return ErrorFrom(err, ErrorOptions{})
	}
	if !ok {
		if ended := call.ctx.Err(); ended != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			return contextError(ended) // contexts made from the call's know no deadline
		}
		failure := *ErrorFrom(err, ErrorOptions{})
		failure.Message, failure.Hint = "", ""
		if a.options.Development {
			failure.Details = map[string]any{"development": cut(err.Error(), maxMessage)}
		}
		return &failure
	}
	switch {
	case e.nested == call && call.ctx.Err() != nil:
		return contextError(call.ctx.Err())
	case e.nested == call && e.Approval != nil && (e.Code == CodeApprovalPending || e.Code == CodeApprovalDenied):
		return passOn(call, e, err)
	case e.nested == call:
		return &Error{Code: CodeInternal, cause: fmt.Errorf("%s returned the error of a call that it made: %w", call.Capability(), err)}
	case e.Code == CodeInternal || e.Code == CodeInvalidOutput:
		return &Error{Code: e.Code, cause: firstError(e.cause, err)}
	case !e.Code.row().domain:
		return &Error{Code: CodeInternal, cause: fmt.Errorf("%s returned the code %q, which is not a handler's to give: %w", call.Capability(), e.Code, err)}
	}
	failure := *e
	failure.Message, failure.Hint = cut(e.Message, maxMessage), cut(e.Hint, maxMessage)
	failure.Faults = e.Faults[:min(len(e.Faults), schema.MaxFaults)]
	failure.Details = maps.Clone(e.Details)
	failure.cause, failure.nested, failure.Approval, failure.Receipt = err, nil, nil, nil
	if text, err := json.Marshal([...]any{e.Details, e.Allowed, failure.Faults}); err != nil || len(text) > maxDetails {
		a.logger.Error("details of an error dropped", slog.String("capability", call.Capability()), call.run.logged(), slog.Int("bytes", len(text)), slog.Any("cause", err))
		failure.Details, failure.Allowed, failure.Faults = nil, nil, nil
	}
	if failure.Executed == "" && refuses(e.Code) && !call.is(didMore) && (!call.is(entered) || call.refusal.Load() == e) {
		failure.Executed = ExecutedNo
	}
	return &failure
}

// passOn lets the caller know that a call within its own waits for a person, or
// was denied: repeating the outer call is what goes on with it. Who may not know
// of the proposal, because a handler asked in the name of another principal, is
// not told which one it is. A handler that passes it on vouches that it can be
// called again, as long as no call within it has had an effect.
func passOn(call *Call, e *Error, err error) *Error {
	awaited := *e.Approval
	awaited.Operation = Digest{}
	failure := &Error{
		Code: e.Code, Message: "A part of this call waits for a person's decision.", Hint: "Repeat the very same call later.",
		RetryAfter: e.RetryAfter, Approval: &awaited, asker: e.asker, cause: err,
	}
	if e.Code == CodeApprovalDenied {
		failure.Message, failure.Hint = "A person has denied a part of this call.", e.Hint
	}
	if e.asker != call.run.key {
		failure.Approval = nil
	}
	if !call.is(didMore) {
		failure.Executed = ExecutedNo
	}
	return failure
}

// refuses reports whether a handler that returns the code vouches that it did
// nothing, unless it says otherwise.
func refuses(c Code) bool {
	switch c {
	case CodeInvalidInput, CodeForbidden, CodeNotFound, CodeConflict, CodeInputTooLarge, CodeRateLimited, CodeBudgetExhausted:
		return true
	}
	return false
}

func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// invalidOutput is the server's fault: its detail stays on the server.
func (a *App) invalidOutput(call *Call, faults []Fault) *Error {
	failure := &Error{Code: CodeInvalidOutput, Executed: call.executed(ExecutedYes)}
	if limit := a.options.HaltAfter; limit > 0 && call.entry.permission >= 0 && // a run's own has no name that others know
		int(call.entry.broken.Add(1)) >= limit {
		a.haltSelf(call.Capability())
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s broke its output schema:", call.Capability())
	for _, f := range faults {
		fmt.Fprintf(&text, " %s %s;", f.Pointer, f.Message)
	}
	failure.cause = errorText(text.String())
	if a.options.Development {
		failure.Details = map[string]any{"development": faults}
	}
	return failure
}

// panicked logs a panic of the application's code and returns it as a cause.
func (a *App) panicked(ctx context.Context, capability string, v any) error {
	a.logger.ErrorContext(ctx, "panic in the application", slog.String("capability", capability), RunFromContext(ctx).logged(),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	return fmt.Errorf("panic: %v", v)
}

// executed returns what an error says about the effect: nothing for a read, and
// nothing before it is decided whether the caller may know of the capability.
func (c *Call) executed(e Executed) Executed {
	if effect := c.Effect(); !c.judged || c.hidden || effect == 0 || effect == Read {
		return ""
	}
	return e
}

// completeFailure makes an error of the pipeline ready to be sent, and tells
// the operator of the application's own faults.
func (a *App) completeFailure(call *Call, failure *Error) *Error {
	f := *failure.completed(a.errorOptions())
	switch {
	case call.once != nil && call.once.told: // it says what became of another call
		f.Executed = call.executed(f.Executed)
	case !call.ran:
		f.Executed = call.executed(ExecutedNo)
	case f.Executed == "":
		f.Executed = call.executed(ExecutedUnknown)
	default:
		f.Executed = call.executed(f.Executed)
	}
	f.nested = call.parent
	if f.Approval != nil && f.asker == "" {
		f.asker = call.run.key
	}
	if f.Code.row().status >= 500 && f.cause != nil {
		a.logger.ErrorContext(call.ctx.parent, "call failed", slog.String("capability", call.Capability()), slog.String("code", string(f.Code)),
			slog.String("call", call.id.String()), slog.String("run", call.run.id.String()), call.run.logged(), slog.Any("cause", f.cause))
	}
	return &f
}

// faultsMessage says what is wrong with an input in one sentence.
func faultsMessage(faults []Fault) string {
	message := "The input is invalid: " + located(faults[0])
	if len(faults) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(faults)-1)
	}
	return message
}

// located says where a fault is, and what it is.
func located(fault Fault) string {
	if fault.Pointer == "" {
		return "the input: " + fault.Message
	}
	return fault.Pointer + ": " + fault.Message
}

// oneLine cuts a caller's reason to one line of at most 200 characters.
func oneLine(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if i := strings.IndexAny(s, "\r\n\u2028\u2029\u0085"); i >= 0 {
		s = s[:i]
	}
	return cut(strings.TrimSpace(s), maxReason)
}

// cut returns at most n characters of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n {
			return s[:i]
		}
		count++
	}
	return s
}
