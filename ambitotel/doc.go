// Package ambitotel reports an application's calls to OpenTelemetry: a span and
// a set of measurements for each call, whatever happened to it.
//
//	observer, err := ambitotel.New(ambitotel.Options{})
//	if err != nil { ... }
//	app := ambit.New(ambit.Options{Observers: []ambit.Observer{observer}, ...})
//
// It uses the API of OpenTelemetry alone. Which SDK and exporter there are is for
// the application, which sets the global providers or names its own in
// [Options]. Without any the observer does next to nothing.
//
// # What is reported, and what never is
//
// Names, codes, sizes, counts and times are. A call's input, its output, the
// caller's reason, a principal's claims and the texts of errors never are,
// neither as attributes nor as events. Who called, and for which tenant, is
// personal data in most applications and is on spans only where
// [Options.Principals] and [Options.Tenants] ask for it; metrics never have it.
//
// # Spans
//
// The spans of calls that a handler makes are children of the span of its own
// call, and spans that the handler begins are too.
//
// A call over MCP follows the MCP conventions: its span is named "tools/call"
// and the tool, and has mcp.method.name. Calls by page tools, assistants and
// guest code follow the GenAI conventions: "execute_tool" and the tool. All of
// these have gen_ai.operation.name and gen_ai.tool.name. Every other call's span
// has the capability's name, as it is no tool to whoever calls it. The kind is
// SERVER for what comes in over HTTP, MCP or from a page, and INTERNAL otherwise.
//
// Every span has ambit.capability, ambit.effect, ambit.surface, ambit.via,
// ambit.run, ambit.call, ambit.principal.kind and ambit.ran, and where they apply
// ambit.parent, ambit.request, ambit.waited (seconds that a person took),
// ambit.faults, ambit.repaired, ambit.limit, ambit.input.size and ambit.output.size (bytes),
// ambit.principal, ambit.tenant and ambit.delegated_by. A call that failed, or
// was refused, has its code as error.type and the status Error.
//
// # Metrics
//
//	ambit.call.count          calls that have ended
//	ambit.call.refusals       those of them whose handler did not start
//	ambit.call.active         calls that have begun and not ended
//	ambit.call.duration       seconds, without those that a person took
//	ambit.call.wait.duration  seconds that a person took, of calls that waited
//	ambit.call.input.size     bytes, of calls that came as JSON
//	ambit.call.output.size    bytes, of calls that came as JSON
//	mcp.server.operation.duration  seconds, of calls over MCP
//
// All but the last are by ambit.surface; all but the active ones and the last by
// ambit.capability and error.type as well; refusals also by ambit.limit. The last
// has the attributes of the MCP conventions.
//
// The values of these attributes are bounded by the application's own code. Names
// that do not exist for the caller are one value, "(unknown)", and so are those of
// capabilities that belong to a single run, "(run)".
//
// # Trace context from callers
//
// What a request says of a trace, in the headers traceparent and tracestate or
// in the _meta of an MCP message, is the word of whoever sent it. Believing it
// lets a stranger choose which traces are sampled and write into other people's.
// So the span of such a call begins a trace of its own and has a link to what
// the caller named, without its flags and its state. [Options.TrustCaller] names
// the callers whose context becomes the parent instead.
//
// Baggage is never read from a request. Where the application's own middleware
// has put a remote span or baggage into the request's context before Ambit saw
// it, that is judged in the same way: for a caller who is not trusted the span
// becomes a link, and the baggage does not reach the handler.
package ambitotel
