package ambit

// Code names what went wrong. The set is closed: every error that leaves Ambit
// has one of these codes, and every surface reads what it means from one table.
type Code string

// The codes. The comment gives HTTP status, command-line exit code, and whether
// the same call may succeed later without a change.
const (
	CodeInvalidInput            Code = "invalid_input"            // 400, exit 2
	CodeUnauthenticated         Code = "unauthenticated"          // 401, exit 3
	CodeAgentRequired           Code = "agent_required"           // 403 (401 where a token would do), exit 3
	CodeForbidden               Code = "forbidden"                // 403, exit 3
	CodeInsufficientScope       Code = "insufficient_scope"       // 403, exit 3
	CodeCrossOriginBlocked      Code = "cross_origin_blocked"     // 403, exit 3
	CodeNotFound                Code = "not_found"                // 404, exit 4
	CodeMethodNotAllowed        Code = "method_not_allowed"       // 405, exit 2
	CodeNotAcceptable           Code = "not_acceptable"           // 406, exit 2
	CodeConflict                Code = "conflict"                 // 409, exit 5
	CodeConfirmationRequired    Code = "confirmation_required"    // 409, exit 5
	CodeApprovalPending         Code = "approval_pending"         // 409, exit 5, retry
	CodeInputRequired           Code = "input_required"           // 409, exit 5
	CodeConfirmationInvalid     Code = "confirmation_invalid"     // 403, exit 5
	CodeApprovalDenied          Code = "approval_denied"          // 403, exit 5
	CodeDeclined                Code = "declined"                 // 403, exit 5
	CodeBlockedInPlanMode       Code = "blocked_in_plan_mode"     // 403, exit 3
	CodeBlockedByMonitor        Code = "blocked_by_monitor"       // 403, exit 3
	CodeInputTooLarge           Code = "input_too_large"          // 413, exit 2
	CodeUnsupportedMediaType    Code = "unsupported_media_type"   // 415, exit 2
	CodeResultTooLarge          Code = "result_too_large"         // 422, exit 2
	CodeRateLimited             Code = "rate_limited"             // 429, exit 6, retry
	CodeBudgetExhausted         Code = "budget_exhausted"         // 429, exit 6
	CodeCanceled                Code = "canceled"                 // 499, exit 130
	CodeInvalidOutput           Code = "invalid_output"           // 500, exit 1
	CodeInternal                Code = "internal"                 // 500, exit 1
	CodeUpstream                Code = "upstream"                 // 502, exit 6, retry
	CodeUnavailable             Code = "unavailable"              // 503, exit 6, retry
	CodeConfirmationUnavailable Code = "confirmation_unavailable" // 503, exit 5
	CodeHalted                  Code = "halted"                   // 503, exit 6
	CodeDeadlineExceeded        Code = "deadline_exceeded"        // 504, exit 6, retry
)

// row is what a code means everywhere.
type row struct {
	status int  // HTTP status
	rpc    int  // JSON-RPC error number, for adapters that must use one
	exit   int  // exit code of the command line
	retry  bool // the same call may succeed later
	domain bool // a handler may return it; the others belong to the pipeline
}

// JSON-RPC 2.0 numbers (section 5.1) and the two that older capability servers
// have used for permission and for everything else.
const (
	rpcInvalidRequest = -32600
	rpcInvalidParams  = -32602
	rpcInternal       = -32603
	rpcForbidden      = -32001
	rpcRefused        = -32000
)

func rowOf(c Code) (row, bool) {
	switch c {
	case CodeInvalidInput:
		return row{400, rpcInvalidParams, 2, false, true}, true
	case CodeUnauthenticated:
		return row{401, rpcForbidden, 3, false, false}, true
	case CodeAgentRequired:
		return row{403, rpcForbidden, 3, false, false}, true
	case CodeForbidden:
		return row{403, rpcForbidden, 3, false, true}, true
	case CodeInsufficientScope, CodeCrossOriginBlocked:
		return row{403, rpcForbidden, 3, false, false}, true
	case CodeNotFound:
		return row{404, rpcInvalidParams, 4, false, true}, true
	case CodeMethodNotAllowed:
		return row{405, rpcInvalidRequest, 2, false, false}, true
	case CodeNotAcceptable:
		return row{406, rpcInvalidRequest, 2, false, false}, true
	case CodeConflict:
		return row{409, rpcRefused, 5, false, true}, true
	case CodeApprovalPending:
		return row{409, rpcRefused, 5, true, false}, true
	case CodeConfirmationRequired, CodeInputRequired:
		return row{409, rpcRefused, 5, false, false}, true
	case CodeConfirmationInvalid, CodeApprovalDenied, CodeDeclined:
		return row{403, rpcRefused, 5, false, false}, true
	case CodeBlockedInPlanMode, CodeBlockedByMonitor:
		return row{403, rpcForbidden, 3, false, false}, true
	case CodeInputTooLarge:
		return row{413, rpcInvalidRequest, 2, false, true}, true
	case CodeUnsupportedMediaType:
		return row{415, rpcInvalidRequest, 2, false, false}, true
	case CodeResultTooLarge:
		return row{422, rpcRefused, 2, false, true}, true
	case CodeRateLimited:
		return row{429, rpcRefused, 6, true, true}, true
	case CodeBudgetExhausted:
		return row{429, rpcRefused, 6, false, true}, true
	case CodeCanceled:
		return row{499, rpcRefused, 130, false, false}, true
	case CodeInvalidOutput, CodeInternal:
		return row{500, rpcInternal, 1, false, false}, true
	case CodeUpstream:
		return row{502, rpcInternal, 6, true, true}, true
	case CodeUnavailable:
		return row{503, rpcInternal, 6, true, true}, true
	case CodeConfirmationUnavailable:
		return row{503, rpcRefused, 5, false, false}, true
	case CodeHalted:
		return row{503, rpcRefused, 6, false, false}, true
	case CodeDeadlineExceeded:
		return row{504, rpcInternal, 6, true, false}, true
	}
	return row{}, false
}

func (c Code) row() row {
	r, ok := rowOf(c)
	if !ok {
		r, _ = rowOf(CodeInternal)
	}
	return r
}

// HTTPStatus returns the status that the code has on HTTP surfaces. A code
// outside the set counts as CodeInternal, here and in the methods below.
func (c Code) HTTPStatus() int { return c.row().status }

// JSONRPC returns the error number for adapters that have to answer a JSON-RPC
// error (JSON-RPC 2.0, section 5.1).
func (c Code) JSONRPC() int { return c.row().rpc }

// ExitCode returns the exit code of a command that ends with this error.
func (c Code) ExitCode() int { return c.row().exit }

// Valid reports whether the code is one of the set.
func (c Code) Valid() bool { _, ok := rowOf(c); return ok }
