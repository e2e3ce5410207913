package side

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// MCPGo returns mcp-go without sessions, with inputs and outputs validated.
func MCPGo() http.Handler {
	return server.NewStreamableHTTPServer(newMCPGo(), server.WithStateLess(true))
}

func newMCPGo() *server.MCPServer {
	s := server.NewMCPServer(serverName, serverVersion,
		server.WithToolCapabilities(false),
		server.WithInputSchemaValidation(),
		server.WithOutputSchemaValidation(),
	)
	addMCPGo(s, ToolName)
	return s
}

// MCPGoCatalog returns mcp-go with count tools that are listed in pages of size.
func MCPGoCatalog(count, size int) http.Handler {
	s := server.NewMCPServer(serverName, serverVersion,
		server.WithToolCapabilities(false),
		server.WithPaginationLimit(size),
	)
	for i := range count {
		addMCPGo(s, toolName(i))
	}
	return server.NewStreamableHTTPServer(s, server.WithStateLess(true))
}

func addMCPGo(s *server.MCPServer, name string) {
	tool := mcp.NewToolWithRawSchema(name, Description, workload.OrderSchema())
	tool.RawOutputSchema = workload.HitsSchema()
	s.AddTool(tool, mcp.NewStructuredToolHandler(
		func(_ context.Context, _ mcp.CallToolRequest, in workload.Order) (workload.Hits, error) {
			return workload.Find(in), nil
		}))
}
