package ambitotel

import (
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-dev/ambit"
)

// Surfaces whose callers send requests from elsewhere, and those whose callers
// know a capability as a tool.
const (
	network = ambit.HTTP | ambit.MCP | ambit.WebMCP
	tools   = ambit.MCP | ambit.WebMCP | ambit.Assistant | ambit.Sandbox
)

func isTool(e ambit.Event) bool { return e.Surface&tools != 0 }

// fromOutside reports whether somebody else's request is the call's cause.
func fromOutside(e ambit.Event) bool { return e.Parent == 0 && e.Surface&network != 0 }

func kind(e ambit.Event) trace.SpanKind {
	if fromOutside(e) {
		return trace.SpanKindServer
	}
	return trace.SpanKindInternal
}

// spanName has the capability where there is a bounded number of them.
func spanName(e ambit.Event) string {
	verb := ""
	switch {
	case e.Surface == ambit.MCP:
		verb = toolsCall
	case isTool(e):
		verb = executeTool
	}
	named := e.Capability != "" && !e.Own
	switch {
	case verb == "":
		return label(e)
	case named:
		return verb + " " + toolName(e.Capability)
	}
	return verb
}

// label names the capability where values are counted.
func label(e ambit.Event) string {
	switch {
	case e.Capability == "":
		return unknown
	case e.Own:
		return ofRun
	}
	return e.Capability
}

// toolName is the name by which callers know a capability as a tool.
func toolName(capability string) string { return strings.ReplaceAll(capability, ".", "_") }
