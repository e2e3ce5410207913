package serve

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
)

// DefaultMCPPath is where MCP is served unless [Options.MCPPath] says otherwise.
const DefaultMCPPath = "/mcp"

// Options say how an application is served. The zero value serves this machine
// alone, without authentication.
type Options struct {
	// Trust says who may come in, on every surface.
	Trust trust.Options
	// APIPrefix is where the JSON API stands. Empty: [httpapi.DefaultPrefix].
	APIPrefix string
	// MCPPath is where MCP stands. Empty: [DefaultMCPPath].
	MCPPath string
	// MinProtocol is the oldest revision of MCP that is served, as in
	// "2025-06-18". Empty: every revision that package surface/mcp knows.
	MinProtocol string
	// ElicitURLs has MCP clients that can show a person where to decide about a
	// call that waits for that, see [mcp.Options].
	ElicitURLs bool
	// Wrap puts handlers and middleware of the application's own around the
	// surfaces. What it answers itself passes none of Trust's checks; values
	// that it adds to a request's context reach capabilities. Nil: nothing.
	Wrap func(http.Handler) http.Handler
	// TLS is the configuration of a server that speaks TLS itself, with its
	// certificates. Nil: plain HTTP, for loopback and behind a proxy.
	TLS *tls.Config
	// Limits are the server's. Zero fields: their defaults.
	Limits Limits
	// Ready is called once when the server accepts connections, with its
	// address: the way to learn the port where the address said 0. Nil: nobody
	// is told.
	Ready func(net.Addr)
}

// Limits are what a server takes of a client. A zero field means its default.
type Limits struct {
	// Header is how long a request's header may take, and the TLS handshake
	// before it. Default 10 seconds.
	Header time.Duration
	// HeaderBytes is the most bytes that a header may have, roughly. Default
	// 64 KiB.
	HeaderBytes int
	// Idle is how long a connection may wait for its next request. Default 2
	// minutes.
	Idle time.Duration
	// Stall is how long a client may neither send of a body nor take of an
	// answer what is due, see Rate. Default 15 seconds.
	Stall time.Duration
	// Rate is the least bytes per second that a client sends of a body or takes
	// of an answer once Stall is used up. Default 8 KiB.
	Rate int
	// Streams is the most requests at a time on one HTTP/2 connection. Default
	// 100.
	Streams int
	// Grace is how long calls under way may go on when the server shuts down;
	// then their contexts are canceled. Default 10 seconds.
	Grace time.Duration
}

// complete fills in the defaults and finds what cannot work.
func (l Limits) complete() (Limits, error) {
	for _, limit := range [...]struct {
		name  string
		value int64
	}{
		{"Header", int64(l.Header)},
		{"HeaderBytes", int64(l.HeaderBytes)},
		{"Idle", int64(l.Idle)},
		{"Stall", int64(l.Stall)},
		{"Rate", int64(l.Rate)},
		{"Streams", int64(l.Streams)},
		{"Grace", int64(l.Grace)},
	} {
		if limit.value < 0 {
			return l, fmt.Errorf("serve: Limits.%s is negative: leave it zero for the default", limit.name)
		}
	}
	return Limits{
		Header:      cmp.Or(l.Header, 10*time.Second),
		HeaderBytes: cmp.Or(l.HeaderBytes, 64<<10),
		Idle:        cmp.Or(l.Idle, 2*time.Minute),
		Stall:       cmp.Or(l.Stall, 15*time.Second),
		Rate:        cmp.Or(l.Rate, 8<<10),
		Streams:     cmp.Or(l.Streams, 100),
		Grace:       cmp.Or(l.Grace, 10*time.Second),
	}, nil
}

// due is how long a number of bytes may take at the least rate.
func (l Limits) due(bytes int) time.Duration {
	return time.Duration(bytes) * time.Second / time.Duration(l.Rate)
}

func (o Options) prefix() string { return cmp.Or(o.APIPrefix, httpapi.DefaultPrefix) }

func (o Options) mcpPath() string { return cmp.Or(o.MCPPath, DefaultMCPPath) }
