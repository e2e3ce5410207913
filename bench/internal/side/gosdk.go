package side

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// GoSDK returns the official SDK with a typed tool, without sessions, answering
// in JSON. Typed tools validate both ways.
func GoSDK() http.Handler { return goSDKHandler(newGoSDK()) }

func newGoSDK() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: serverName, Version: serverVersion}, nil)
	newGoSDKTools().add(s, ToolName)
	return s
}

// GoSDKCatalog returns the official SDK with count tools that are listed in
// pages of size. The tools share their schemas through the SDK's
// cache.
func GoSDKCatalog(count, size int) http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: serverName, Version: serverVersion}, &mcp.ServerOptions{
		PageSize:    size,
		SchemaCache: mcp.NewSchemaCache(),
	})
	tools := newGoSDKTools()
	for i := range count {
		tools.add(s, toolName(i))
	}
	return goSDKHandler(s)
}

func goSDKHandler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true},
	)
}

// goSDKTools makes tools that share their parsed schemas, as the SDK's cache
// wants it.
type goSDKTools struct {
	input, output *jsonschema.Schema
}

func newGoSDKTools() goSDKTools {
	return goSDKTools{
		input:  mustParse(workload.OrderSchema()),
		output: mustParse(workload.HitsSchema()),
	}
}

func (t goSDKTools) add(s *mcp.Server, name string) {
	tool := &mcp.Tool{Name: name, Description: Description, InputSchema: t.input, OutputSchema: t.output}
	mcp.AddTool(s, tool, func(_ context.Context, _ *mcp.CallToolRequest, in workload.Order) (*mcp.CallToolResult, workload.Hits, error) {
		return nil, workload.Find(in), nil
	})
}

// mustParse parses one of the workload's own schemas, which are right: it panics
// on any other.
func mustParse(text []byte) *jsonschema.Schema {
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		panic(fmt.Sprintf("the workload's schema can't be parsed: %v", err))
	}
	return &s
}
