package ambittest

import "github.com/ambit-dev/ambit"

// Way is one way in, as a client goes it.
type Way uint8

// The ways in. The zero Way is in-process.
const (
	// InProcess is a call by the application's own Go code.
	InProcess Way = iota
	// CommandLine is a call as the application's own command makes it.
	CommandLine
	// HTTP is a request to the JSON API.
	HTTP
	// MCP is a request of the revision 2026-07-28.
	MCP
	// MCP2025 is a request of the revision 2025-11-25.
	MCP2025
)

// Ways returns all ways in.
func Ways() []Way { return []Way{InProcess, CommandLine, HTTP, MCP, MCP2025} }

// String returns a name for tests to go by, such as "mcp-2026-07-28".
func (w Way) String() string {
	switch w {
	case InProcess:
		return "in-process"
	case CommandLine:
		return "command"
	case HTTP:
		return "http"
	case MCP:
		return "mcp-" + revision2026
	case MCP2025:
		return "mcp-" + revision2025
	}
	return "invalid"
}

// Surface returns the surface that a way leads to; ways of one protocol lead to
// one surface.
func (w Way) Surface() ambit.Surface {
	switch w {
	case CommandLine:
		return ambit.CommandLine
	case HTTP:
		return ambit.HTTP
	case MCP, MCP2025:
		return ambit.MCP
	}
	return ambit.InProcess
}

// nameOf returns what a capability is called on a way.
func (w Way) nameOf(contract ambit.AnyContract) string {
	if w.Surface() == ambit.MCP {
		return contract.ToolName()
	}
	return contract.Name()
}
