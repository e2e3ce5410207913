package interop_test

import (
	"cmp"
	"testing"

	"github.com/ambit-dev/ambit"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// target says where a server is: at url, to be called with token as the bearer
// credential, or behind command, which speaks on its standard streams.
type target struct {
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token,omitempty"`
	Command []string `json:"command,omitempty"`
	// Shows has a client declare that it can show a person an address, and go to
	// each that it is given.
	Shows bool `json:"shows,omitempty"`
}

// call is one tool call that a client is to make.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
	// Acknowledge asks for progress notifications. It is the tool to call at
	// each, with the same arguments and the step.
	Acknowledge string `json:"acknowledge,omitempty"`
	// State is sent along, as in a call that repeats one whose answer had a state;
	// mcp-go's client cannot.
	State string `json:"state,omitempty"`
	// Accepts sends along that the question named approval was accepted; mcp-go's
	// client cannot.
	Accepts bool `json:"accepts,omitempty"`
}

// outcome is how one call ended, as the client's user sees it.
type outcome struct {
	// Text is the first text block.
	Text string `json:"text,omitempty"`
	// Structured is the structured content as encoding/json decodes it.
	Structured any  `json:"structured,omitempty"`
	IsError    bool `json:"isError,omitempty"`
	// Error is the code of the error that the text of a refusal holds; the
	// text is left out then.
	Error ambit.Code `json:"-"`
	// Code is the number of a JSON-RPC error; all else is empty then.
	Code int `json:"code,omitempty"`
	// Progress holds the reported steps, in order.
	Progress []float64 `json:"progress,omitempty"`
}

// observation is all that a client tells about a server in one session.
type observation struct {
	// Version is the protocol revision that the two settled on.
	Version string `json:"version"`
	// Server is the server's name.
	Server string `json:"server"`
	// Tools are the names of all pages, in the server's order.
	Tools    []string  `json:"tools"`
	Outcomes []outcome `json:"outcomes"`
}

// client is a foreign MCP client in one of the ways that it can be set up.
type client struct {
	name string
	// era is what the client is told about the revision to speak.
	era string
	// version is the revision that the session must come to.
	version string
	// observe connects, lists, makes the calls in order, and disconnects.
	observe func(t *testing.T, to target, era string, calls []call) observation
	// curt is set for a client that tells neither revision nor server, and can
	// make plain calls of listed tools alone.
	curt bool
}

// Revisions of the protocol, by the names they give themselves.
const (
	modern  = "2026-07-28"
	newest  = "2025-11-25" // the last revision with a handshake
	middle  = "2025-06-18"
	batched = "2025-03-26" // the one revision with batches
)

var clients = []client{
	{"go sdk", "", modern, observeGoSDK, false},
	{"go sdk", newest, newest, observeGoSDK, false},
	{"go sdk", middle, middle, observeGoSDK, false},
	{"go sdk", batched, batched, observeGoSDK, false},

	{"mcp-go", "", modern, observeMCPGo, false},
	{"mcp-go", newest, newest, observeMCPGo, false},
	{"mcp-go", middle, middle, observeMCPGo, false},
	{"mcp-go", batched, batched, observeMCPGo, false},

	{"typescript 2", "legacy", newest, observeTypeScript("v2.mjs"), false},
	{"typescript 2", "auto", modern, observeTypeScript("v2.mjs"), false},
	{"typescript 2", "modern", modern, observeTypeScript("v2.mjs"), false},
	{"typescript 1", "legacy", newest, observeTypeScript("v1.mjs"), false},

	{"inspector", "legacy", newest, observeInspector, true},
	{"inspector", "modern", modern, observeInspector, true},
}

// TestClients is the one table of who can use an Ambit server: every client, in
// every era that it speaks, over both transports, sees the same tools and gets
// the same answers.
func TestClients(t *testing.T) {
	t.Parallel()
	for _, transport := range []struct {
		name string
		to   target
	}{
		{"http", serveHTTP(t)},
		{"stdio", target{Command: stdioCommand(t)}},
	} {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range clients {
				t.Run(c.name+"/"+cmp.Or(c.era, "default"), func(t *testing.T) {
					t.Parallel()
					if testing.Short() && c.curt {
						t.Skip("starts a program for every call")
					}
					calls, want := session(t, c)
					got := c.observe(t, transport.to, c.era, calls)
					readErrors(&got)
					if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("what the client saw (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}
