package ambit

import "strings"

// Surface is one way in, or a set of them: [Spec.Expose] names every surface
// on which a capability may be reached, [RunOptions.Surface] the one that a
// run came in by.
type Surface uint16

// The surfaces. A capability is reached in-process and from the command line
// without being exposed; every other surface needs its flag.
const (
	// HTTP is the JSON API of package surface/httpapi.
	HTTP Surface = 1 << iota
	// MCP is the Model Context Protocol, over HTTP and stdio.
	MCP
	// WebMCP is a tool that a page of the application offers to an agent in
	// the browser. It needs HTTP as well, which carries its calls.
	WebMCP
	// Assistant is a model that the application itself talks to.
	Assistant
	// Sandbox is guest code that imports capabilities.
	Sandbox
	// Schedule is work that runs with nobody present.
	Schedule
	// CommandLine is the application's own command. It reaches every
	// capability and cannot be part of Spec.Expose.
	CommandLine

	// InProcess is a call by the application's own Go code, and the zero
	// Surface. It reaches every capability.
	InProcess Surface = 0
)

const exposable = HTTP | MCP | WebMCP | Assistant | Sandbox | Schedule

var surfaceNames = [...]string{"http", "mcp", "webmcp", "assistant", "sandbox", "schedule", "command"}

// String returns the surfaces' names in a fixed order, joined by commas, or
// "in-process" for the zero Surface.
func (s Surface) String() string {
	if s == InProcess {
		return "in-process"
	}
	var names []string
	for i, name := range surfaceNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "invalid"
	}
	return strings.Join(names, ",")
}

// Has reports whether every surface of other is in s.
func (s Surface) Has(other Surface) bool { return s&other == other }

// single reports whether s is exactly one surface, in-process included.
func (s Surface) single() bool { return s&(s-1) == 0 && s <= CommandLine }

// open reports whether the surface reaches capabilities that are not exposed.
func (s Surface) open() bool { return s == InProcess || s == CommandLine }
