package side

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// Client calls the workload's operation without a network: typed in, typed out.
type Client struct {
	// Call runs the operation.
	Call func(context.Context, workload.Order) (workload.Hits, error)
	// Close ends what the client started.
	Close func() error
}

// MCPGoClient returns mcp-go's client on the transport that it has for servers
// in the same process. It is the nearest thing to a call in process that the
// library has; the message is encoded and decoded all the same.
func MCPGoClient(ctx context.Context) (*Client, error) {
	c, err := client.NewInProcessClient(newMCPGo())
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcpgo.InitializeRequest
	hello.Params.ProtocolVersion = mcpgo.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcpgo.Implementation{Name: serverName, Version: serverVersion}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Client{Close: c.Close, Call: func(ctx context.Context, in workload.Order) (workload.Hits, error) {
		var request mcpgo.CallToolRequest
		request.Params.Name, request.Params.Arguments = ToolName, in
		result, err := c.CallTool(ctx, request)
		if err != nil {
			return workload.Hits{}, err
		}
		return structured(result.IsError, result.StructuredContent)
	}}, nil
}

// GoSDKClient returns the official SDK's client on its in-memory transport,
// under the same reservation as [MCPGoClient].
func GoSDKClient(ctx context.Context) (*Client, error) {
	near, far := mcp.NewInMemoryTransports()
	served, err := newGoSDK().Connect(ctx, far, nil)
	if err != nil {
		return nil, err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: serverName, Version: serverVersion}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, errors.Join(err, served.Close())
	}
	closeBoth := func() error { return errors.Join(session.Close(), served.Wait()) }
	return &Client{Close: closeBoth, Call: func(ctx context.Context, in workload.Order) (workload.Hits, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: ToolName, Arguments: in})
		if err != nil {
			return workload.Hits{}, err
		}
		return structured(result.IsError, result.StructuredContent)
	}}, nil
}

// structured makes typed hits of the untyped content that a client is given.
func structured(isError bool, content any) (hits workload.Hits, err error) {
	if isError {
		return hits, errors.New("the tool answered with an error")
	}
	data, err := json.Marshal(content)
	if err != nil {
		return hits, fmt.Errorf("encoding the content: %w", err)
	}
	return hits, json.Unmarshal(data, &hits)
}
