package mcp

import "github.com/ambit-dev/ambit/internal/negotiate"

// accepts says which forms of an answer a client takes. Clients have to take
// both; one that names fewer is answered in what it takes, so long as that is
// JSON, and one that names nothing takes JSON alone: a client that does not say
// that it can read a stream gets none.
func accepts(accept []string) (json, stream bool) {
	if len(accept) == 1 && accept[0] == "application/json, text/event-stream" {
		return true, true
	}
	return negotiate.Accepts(accept, "application/json", true), negotiate.Accepts(accept, "text/event-stream", false)
}
