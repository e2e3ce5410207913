package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
	"github.com/ambit-dev/ambit/trust"
)

// exchange is one message on its way to its response. It knows the transport
// only by what a message may do on it.
type exchange struct {
	*Server
	*buffers
	ctx       context.Context
	principal *ambit.Principal
	identity  *trust.Identity // what the request said of its sender; nil but over HTTP
	agent     ambit.AgentIdentity
	request   string      // the request's id, for records
	revision  revision    // what the message speaks
	header    http.Header // what the message came with; nil but over HTTP
	session   *Session    // nil over HTTP
	listener  listener    // nil: there is no way to send notifications
	batched   bool
	busy      bool // no call may be made
	http      bool // the caller can be answered by HTTP's own means

	status  int          // HTTP status of the response
	refused *ambit.Error // what HTTP says beside the response: who the caller is, or may do, is not enough
}

// listener takes what the server says while a message is being answered: one
// notification at a time, which it must not keep. It is safe for concurrent use.
type listener interface{ notify(message []byte) }

// respond appends the response to a message to x.out: nothing where none is due.
func (x *exchange) respond(m *message) {
	start := len(x.out)
	x.status = http.StatusOK
	defer func() {
		if v := recover(); v != nil {
			x.app.Logger().ErrorContext(x.ctx, "panic in the MCP surface", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			x.out = x.out[:start]
			x.fail(m, &rpcError{number: numberInternal, message: "The server failed to answer."})
		}
	}()
	if failure := x.dispatch(m); failure != nil {
		x.out = x.out[:start]
		x.fail(m, failure)
	}
}

// fail appends an error response, unless the message may have none: HTTP can at
// least say that it was not accepted.
func (x *exchange) fail(m *message, failure *rpcError) {
	x.status = failure.httpStatus(x.revision)
	if m.silent {
		x.status = http.StatusBadRequest
		return
	}
	x.out = appendError(x.out, m.id, failure)
}

// dispatch answers a message of any kind. What it appended counts only where it
// returns nil.
func (x *exchange) dispatch(m *message) *rpcError {
	switch {
	case m.refused != nil:
		return m.refused
	case m.reply && x.revision.modern():
		m.refused = invalidRequest("A client sends no responses.")
		return m.refused
	case m.reply:
		return nil
	case m.silent:
		x.notified(m)
		return nil
	case x.revision.modern():
		return x.modernMethod(m)
	}
	return x.legacyMethod(m)
}

// notified takes a notification. Only a cancellation means anything here, and
// only where there is something that outlives a request (rule T30).
func (x *exchange) notified(m *message) {
	if x.session == nil || string(m.method) != "notifications/cancelled" {
		return
	}
	if id := validID(m.params.requestID); id != nil {
		x.session.cancel(id)
	}
}

func (x *exchange) modernMethod(m *message) *rpcError {
	switch meta := &m.params.meta; {
	case !meta.version.valid():
		return invalidParams("The request's _meta must have " + keyProtocolVersion + ".")
	case !meta.capabilities:
		return invalidParams("The request's _meta must have " + keyClientCapabilities + ".")
	}
	if string(m.method) == "server/discover" {
		x.discover(m)
		return nil
	}
	return x.method(m)
}

func (x *exchange) legacyMethod(m *message) *rpcError {
	switch string(m.method) {
	case "initialize":
		if x.batched {
			return invalidRequest("The handshake cannot be part of a batch.")
		}
		return x.initialize(m)
	case "ping":
		x.out = append(appendStart(x.out, m.id), "}}"...)
		return nil
	case "logging/setLevel":
		return x.setLevel(m)
	}
	return x.method(m)
}

// method answers what every revision has.
func (x *exchange) method(m *message) *rpcError {
	switch string(m.method) {
	case "tools/call":
		return x.callTool(m)
	case "tools/list":
		return x.listTools(m)
	case "resources/list":
		return x.listNothing(m, "resources")
	case "resources/templates/list":
		return x.listNothing(m, "resourceTemplates")
	case "prompts/list":
		return x.listNothing(m, "prompts")
	case "resources/read":
		return noResource(m)
	case "prompts/get":
		return invalidParams("There is no such prompt here.")
	}
	return unknownMethod(m.method)
}

// noResource answers resources/read: there are none. The address is given back
// as the protocol asks, where it is short enough to be one.
func noResource(m *message) *rpcError {
	failure := invalidParams("There is no such resource here.")
	if uri := m.params.uri; uri.valid() && len(uri.text) <= maxURI {
		failure.data = append(strictjson.AppendString([]byte(`{"uri":`), uri.text), '}')
	}
	return failure
}

// maxURI is the longest address that is given back.
const maxURI = 2048

// appendStart begins a result.
func appendStart(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":{`...)
}

// begin begins a result that further members follow.
func (x *exchange) begin(m *message) {
	x.out = appendStart(x.out, m.id)
	if x.revision.modern() {
		x.out = append(x.out, `"resultType":"complete",`...)
	}
}

// end ends a result with what the server says about itself.
func (x *exchange) end() {
	if x.revision.modern() {
		x.out = append(append(x.out, x.hello.meta...), '}')
	}
	x.out = append(x.out, "}}"...)
}

// openMeta begins the _meta at the end of a result that has something to say
// there.
func (x *exchange) openMeta() {
	if x.revision.modern() {
		x.out = append(append(x.out, x.hello.meta...), ',')
	} else {
		x.out = append(x.out, `,"_meta":{`...)
	}
}

// run begins the run that a message is answered in.
func (x *exchange) run(log func(slog.Level, string)) (context.Context, *ambit.Run) {
	return x.app.NewRun(x.ctx, ambit.RunOptions{
		Principal: x.principal, Surface: ambit.MCP, Agent: x.agent, Request: x.request, Log: log,
	})
}
