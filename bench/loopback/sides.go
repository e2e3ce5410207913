//go:build unix

package main

import (
	"fmt"
	"net/http"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/wire"
)

// contender is one side: what the server process runs, and what it is sent.
type contender struct {
	name     string
	handler  func() http.Handler
	exchange *wire.Exchange
}

func contenders() []contender {
	call := wire.ToolCall("/mcp", side.ToolName)
	return []contender{
		{"empty", side.Empty, &wire.Exchange{Path: call.Path, Header: call.Header, Body: call.Body}},
		{"ambit-http", side.AmbitHTTP, wire.EnvelopeCall(side.AmbitPath).Bearer(side.AmbitKey)},
		{"huma", side.Huma, wire.BareCall(side.HumaPath)},
		{"ambit-mcp", side.AmbitMCP, call.Bearer(side.AmbitKey)},
		{"mcpgo", side.MCPGo, call},
		{"gosdk", side.GoSDK, call},
	}
}

func sideNames() []string {
	var names []string
	for _, c := range contenders() {
		names = append(names, c.name)
	}
	return names
}

func findSide(name string) (contender, error) {
	for _, c := range contenders() {
		if c.name == name {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("there is no side %q; the sides are %q", name, sideNames())
}
