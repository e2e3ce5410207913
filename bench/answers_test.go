package bench_test

import (
	"net/http"
	"testing"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/wire"
)

// contender is one side of a benchmark of whole calls.
type contender struct {
	name     string
	handler  http.Handler
	exchange *wire.Exchange
}

func httpContenders() []contender {
	return []contender{
		{"empty", side.Empty(), &wire.Exchange{Path: "/"}},
		{"huma", side.Huma(), wire.BareCall(side.HumaPath)},
	}
}

func mcpContenders() []contender {
	return []contender{
		{"empty", side.Empty(), &wire.Exchange{Path: "/"}},
		{"mcpgo", side.MCPGo(), wire.ToolCall("/mcp", side.ToolName)},
		{"gosdk", side.GoSDK(), wire.ToolCall("/mcp", side.ToolName)},
	}
}

func listContenders() []contender {
	list := wire.ToolList("/mcp", 100)
	return []contender{
		{"mcpgo", side.MCPGoCatalog(10_000, 100), list},
		{"gosdk", side.GoSDKCatalog(10_000, 100), list},
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range append(append(httpContenders(), mcpContenders()...), listContenders()...) {
		t.Run(c.name, func(t *testing.T) {
			if err := c.exchange.Try(c.handler); err != nil {
				t.Error(err)
			}
		})
	}
}
