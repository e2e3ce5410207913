package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit/schema"
)

// Fault is one thing wrong with an input: where, which rule, what to do.
type Fault = schema.Fault

// Executed says whether a call that failed may have had its effect.
type Executed string

// The values of [Error.Executed].
const (
	// ExecutedNo means that the handler never started.
	ExecutedNo Executed = "no"
	// ExecutedYes means that the effect took place.
	ExecutedYes Executed = "yes"
	// ExecutedUnknown means that nobody can tell.
	ExecutedUnknown Executed = "unknown"
)

// Error is the one shape in which a call fails, on every surface. Message and
// Hint are sent to the caller: they hold nothing internal. Match it with
// errors.AsType[*ambit.Error], or ask [CodeOf]. An Error that a call returned
// must not be changed.
type Error struct {
	// Code names what went wrong; see the table in docs/errors.md.
	Code Code
	// Message says it in a sentence, for a person or a model.
	Message string
	// Hint says what to do about it. May be empty.
	Hint string
	// Field is the JSON Pointer of the input value to blame (RFC 6901), where
	// there is one.
	Field string
	// Allowed lists the values that Field may have.
	Allowed []any
	// Faults are all that is wrong with an input, in document order.
	Faults []Fault
	// RetryAfter is how long to wait before the same call may succeed; zero
	// where waiting does not help or nobody knows.
	RetryAfter time.Duration
	// Executed says whether the effect took place. It is empty for reads and
	// for errors that concern no capability.
	Executed Executed
	// Scopes are what a credential would need (CodeInsufficientScope).
	Scopes []string
	// Approval is what the call waits for, or what a person has decided about it.
	// Nil where that is not what the error is about.
	Approval *Awaited
	// Receipt says what is known of the call that this one repeats, where nothing
	// else of its outcome is kept. Nil where that is not what the error is about.
	Receipt *Receipt
	// Details are a domain error's own facts, such as the current version. At
	// most 4 KiB as JSON; more is dropped and logged.
	Details map[string]any

	cause  error // stays on the server: logs and events have it, callers do not
	nested *Call // the call inside a handler that this error came from

	replayed bool       // it was the answer to an earlier call
	agent    AgentLevel // what CodeAgentRequired is about
	asker    string     // key of the principal whose proposal Approval is
}

// Errorf makes an error for a handler to return. The formatted text is sent to
// the caller. A code that only Ambit itself may give (an authentication code,
// say) becomes CodeInternal when a handler returns it.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes the error for an input value that the schema allows and the
// application does not. Pointer is its JSON Pointer (RFC 6901): "/dueDate",
// "/items/0/name", "" for the whole input; the first slash is put there where it is
// left out. Allowed are the values that would do, if they can be listed.
func Invalid(pointer, message string, allowed ...any) *Error {
	pointer = fromRoot(pointer)
	return &Error{
		Code: CodeInvalidInput, Message: message, Field: pointer, Allowed: allowed,
		Faults: []Fault{{Pointer: pointer, Rule: "application", Message: message, Allowed: allowed}},
	}
}

// fromRoot puts the slash in front of a JSON Pointer that was left out.
func fromRoot(pointer string) string {
	if pointer == "" || pointer[0] == '/' {
		return pointer
	}
	return "/" + pointer
}

// WithHint returns a copy of e that also says what to do.
func (e *Error) WithHint(hint string) *Error { c := *e; c.Hint = hint; return &c }

// WithDetails returns a copy of e with facts of the application's own, such as
// {"version": 7} on a conflict.
func (e *Error) WithDetails(details map[string]any) *Error { c := *e; c.Details = details; return &c }

// Error returns code and message, for logs.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is reports that CodeCanceled is context.Canceled and CodeDeadlineExceeded is
// context.DeadlineExceeded, so that in-process callers need not know which
// side of a call gave up.
func (e *Error) Is(target error) bool {
	return target == context.Canceled && e.Code == CodeCanceled ||
		target == context.DeadlineExceeded && e.Code == CodeDeadlineExceeded
}

// Replayed reports whether this is the stored answer to an earlier call with the
// same idempotency key. It is not part of the JSON form: surfaces say it beside.
func (e *Error) Replayed() bool { return e.replayed }

// Retryable reports whether the same call, unchanged, may succeed later: the
// code allows it and the effect has surely not taken place.
func (e *Error) Retryable() bool {
	return e.Code.row().retry && (e.Executed == "" || e.Executed == ExecutedNo)
}

// wireError is the error object on every surface.
type wireError struct {
	Code       Code           `json:"code"`
	Message    string         `json:"message"`
	Hint       string         `json:"hint,omitempty"`
	Field      string         `json:"field,omitempty"`
	Allowed    []any          `json:"allowed,omitempty"`
	Faults     []Fault        `json:"faults,omitempty"`
	RetryAfter float64        `json:"retryAfter,omitempty"`
	Executed   Executed       `json:"executed,omitempty"`
	Scopes     []string       `json:"scopes,omitempty"`
	Approval   *Awaited       `json:"approval,omitempty"`
	Receipt    *Receipt       `json:"receipt,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
}

// MarshalJSON writes the error as every surface sends it: camelCase, empty
// members left out, retryAfter in seconds.
func (e *Error) MarshalJSON() ([]byte, error) { return json.Marshal(e.wire()) }

func (e *Error) wire() *wireError {
	return &wireError{
		Code: e.Code, Message: e.Message, Hint: e.Hint, Field: e.Field, Allowed: e.Allowed, Faults: e.Faults,
		RetryAfter: e.RetryAfter.Seconds(), Executed: e.Executed, Scopes: e.Scopes, Approval: e.Approval, Receipt: e.Receipt, Details: e.Details,
	}
}

// UnmarshalJSON reads what MarshalJSON writes, for Go clients and tests.
func (e *Error) UnmarshalJSON(data []byte) error {
	var w wireError
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*e = *w.error()
	return nil
}

func (w *wireError) error() *Error {
	return &Error{
		Code: w.Code, Message: w.Message, Hint: w.Hint, Field: w.Field, Allowed: w.Allowed, Faults: w.Faults,
		RetryAfter: time.Duration(w.RetryAfter * float64(time.Second)), Executed: w.Executed, Scopes: w.Scopes, Approval: w.Approval, Receipt: w.Receipt, Details: w.Details,
	}
}

// CodeOf returns the code of err: its own if it is or wraps an [*Error],
// CodeCanceled or CodeDeadlineExceeded for context errors, CodeUpstream for any
// other error, and "" for nil and for a nil *Error, as a call that succeeded has
// in a field of that type.
func CodeOf(err error) Code {
	if e, ok := err.(*Error); err == nil || ok && e == nil {
		return ""
	}
	return ErrorFrom(err, ErrorOptions{}).Code
}

// ErrorOptions adapts [ErrorFrom] to a surface. The zero value is fine.
type ErrorOptions struct {
	// SupportContact is whom a caller may turn to, as in "#support" or
	// "support@example.com". Empty: "the application's operator".
	SupportContact string
}

func (o ErrorOptions) contact() string {
	if o.SupportContact == "" {
		return "the application's operator"
	}
	return o.SupportContact
}

// ErrorFrom turns any error into the one shape, for code that stands between a
// call and its caller. An *Error inside err is taken as it is, context errors
// become CodeCanceled and CodeDeadlineExceeded, and every other error becomes
// CodeUpstream without its text. Errors whose hint is empty and which a caller
// can only report get one that names the support contact. ErrorFrom(nil) is nil; a
// nil *Error that was returned as an error is a handler's mistake and becomes
// CodeInternal.
func ErrorFrom(err error, o ErrorOptions) *Error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e == nil:
		e = &Error{Code: CodeInternal, cause: errorText("a nil *ambit.Error was returned as an error: return nil instead")}
	case ok && e.Code.Valid():
	case ok:
		e = &Error{Code: CodeInternal, cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		e = &Error{Code: CodeDeadlineExceeded, cause: err}
	case errors.Is(err, context.Canceled):
		e = &Error{Code: CodeCanceled, cause: err}
	default:
		e = &Error{Code: CodeUpstream, cause: err}
	}
	return e.completed(o)
}

// completed fills in what is empty: the code's own sentence and, for errors
// that a caller cannot mend, whom to ask.
func (e *Error) completed(o ErrorOptions) *Error {
	message, hint := e.Code.text()
	if hint != "" {
		hint = fmt.Sprintf(hint, o.contact())
	}
	if e.Message != "" {
		message = e.Message
	}
	if e.Hint != "" {
		hint = e.Hint
	}
	if message == e.Message && hint == e.Hint {
		return e
	}
	c := *e
	c.Message, c.Hint = message, hint
	return &c
}

// text returns what a code says when nobody said more, and the hint for codes
// whose only cure is a person; %s is the support contact.
func (c Code) text() (message, hint string) {
	switch c {
	case CodeInternal:
		return "The application failed to answer this call.", "This is a fault of the application, not of the call. Tell %s."
	case CodeInvalidOutput:
		return "The application produced a result that breaks its own contract.", "This is a fault of the application, not of the call. Tell %s."
	case CodeUpstream:
		return "Something that the application depends on failed.", "Try again later; if it stays, tell %s."
	case CodeUnavailable:
		return "The application cannot answer this call at the moment.", "Try again later; if it stays, tell %s."
	case CodeForbidden:
		return "You may not call this.", "Ask %s for the permission."
	case CodeUnauthenticated:
		return "This needs a credential.", ""
	case CodeCanceled:
		return "The call was canceled.", ""
	case CodeDeadlineExceeded:
		return "The call took longer than it may.", ""
	}
	return "The call was refused: " + string(c) + ".", ""
}
