package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
)

var codes = []ambit.Code{
	ambit.CodeInvalidInput, ambit.CodeUnauthenticated, ambit.CodeAgentRequired, ambit.CodeForbidden, ambit.CodeInsufficientScope,
	ambit.CodeCrossOriginBlocked, ambit.CodeNotFound, ambit.CodeMethodNotAllowed, ambit.CodeNotAcceptable, ambit.CodeConflict,
	ambit.CodeConfirmationRequired, ambit.CodeApprovalPending, ambit.CodeInputRequired, ambit.CodeConfirmationInvalid,
	ambit.CodeApprovalDenied, ambit.CodeDeclined, ambit.CodeBlockedInPlanMode, ambit.CodeBlockedByMonitor, ambit.CodeInputTooLarge,
	ambit.CodeUnsupportedMediaType, ambit.CodeResultTooLarge, ambit.CodeRateLimited, ambit.CodeBudgetExhausted, ambit.CodeCanceled,
	ambit.CodeInvalidOutput, ambit.CodeInternal, ambit.CodeUpstream, ambit.CodeUnavailable, ambit.CodeConfirmationUnavailable,
	ambit.CodeHalted, ambit.CodeDeadlineExceeded,
}

// The whole table, in one file that a reviewer can read.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, c := range codes {
		e := ambit.ErrorFrom(&ambit.Error{Code: c}, ambit.ErrorOptions{SupportContact: "#support"})
		fmt.Fprintf(&got, "%-25s http %d, json-rpc %d, exit %d, retry %v\n\t%s %s\n", c, c.HTTPStatus(), c.JSONRPC(), c.ExitCode(), e.Retryable(), e.Message, e.Hint)
	}
	golden(t, "errors.txt", got.String())
}

func TestErrorFrom(t *testing.T) {
	t.Parallel()
	conflict := ambit.Errorf(ambit.CodeConflict, "Changed.")
	for _, test := range []struct {
		name string
		err  error
		want ambit.Code
	}{
		{"nil", nil, ""},
		{"a success kept as *Error", (*ambit.Error)(nil), ""},
		{"wrapped around nothing", fmt.Errorf("saving: %w", (*ambit.Error)(nil)), ambit.CodeInternal},
		{"own", conflict, ambit.CodeConflict},
		{"wrapped", fmt.Errorf("saving: %w", conflict), ambit.CodeConflict},
		{"no such code", ambit.Errorf("teapot", "Short."), ambit.CodeInternal},
		{"canceled", fmt.Errorf("query: %w", context.Canceled), ambit.CodeCanceled},
		{"deadline", context.DeadlineExceeded, ambit.CodeDeadlineExceeded},
		{"other", errors.New("disk full"), ambit.CodeUpstream},
	} {
		if got := ambit.CodeOf(test.err); got != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
		if e := ambit.ErrorFrom(test.err, ambit.ErrorOptions{}); e != nil && strings.Contains(e.Error()+e.Hint, "disk") {
			t.Errorf("%s: the text of a foreign error is sent: %v", test.name, e)
		}
	}
}

func TestErrorJSON(t *testing.T) {
	t.Parallel()
	full := &ambit.Error{
		Code: ambit.CodeRateLimited, Message: "Too many.", Hint: "Wait.", Field: "/a", Allowed: []any{"x", 1.5},
		Faults:     []ambit.Fault{{Pointer: "/a", Rule: "enum", Message: "is not allowed", Allowed: []any{"x"}}},
		RetryAfter: 1500 * time.Millisecond, Executed: ambit.ExecutedNo, Scopes: []string{"notes"}, Details: map[string]any{"limit": 3.0},
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":"rate_limited","message":"Too many.","hint":"Wait.","field":"/a","allowed":["x",1.5],` +
		`"faults":[{"pointer":"/a","rule":"enum","message":"is not allowed","allowed":["x"]}],` +
		`"retryAfter":1.5,"executed":"no","scopes":["notes"],"details":{"limit":3}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var back ambit.Error
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full, &back, cmpopts.IgnoreUnexported(ambit.Error{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// A place in the input is a JSON Pointer, also where the slash in front was left out.
func TestInvalidPoints(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "/dueDate": "/dueDate", "dueDate": "/dueDate", "items/0": "/items/0", "/": "/"} {
		if e := ambit.Invalid(given, "must be in the future"); e.Field != want || e.Faults[0].Pointer != want {
			t.Errorf("%q: want %q, got %q and %q", given, want, e.Field, e.Faults[0].Pointer)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code     ambit.Code
		executed ambit.Executed
		want     bool
	}{
		{ambit.CodeUnavailable, "", true},
		{ambit.CodeUnavailable, ambit.ExecutedNo, true},
		{ambit.CodeUnavailable, ambit.ExecutedUnknown, false},
		{ambit.CodeUpstream, ambit.ExecutedYes, false},
		{ambit.CodeInvalidInput, "", false},
	} {
		if got := (&ambit.Error{Code: test.code, Executed: test.executed}).Retryable(); got != test.want {
			t.Errorf("%s %q: want %v, got %v", test.code, test.executed, test.want, got)
		}
	}
}

// What a handler attaches to an error is bounded.
func TestErrorDetailsAreBounded(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), func(context.Context, echoInput) (echoOutput, error) {
		return echoOutput{}, ambit.Errorf(ambit.CodeConflict, "%s", strings.Repeat("é", 2000)).
			WithDetails(map[string]any{"dump": strings.Repeat("x", 5000)})
	}))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
	e := failure(t, err)
	if len([]rune(e.Message)) != 1000 || e.Details != nil {
		t.Errorf("want 1000 characters and no details, got %d and %v", len([]rune(e.Message)), e.Details)
	}
}
