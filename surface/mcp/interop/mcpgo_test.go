package interop_test

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// observeMCPGo uses the client of mark3labs/mcp-go. The era is the revision to
// ask for; empty leaves it to the library, which asks for discovery first.
func observeMCPGo(t *testing.T, to target, era string, calls []call) observation {
	t.Helper()
	ctx := t.Context()
	c := mcpgo.NewClient(mcpGoTransport(t, to), mcpgo.WithProtocolVersion(era))
	progress := follower{calls: calls}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method != "notifications/progress" {
			return
		}
		step, _ := n.Params.AdditionalFields["progress"].(float64)
		progress.saw(n.Params.AdditionalFields["progressToken"], step, func(ack call) {
			if _, err := c.CallTool(ctx, mcpGoRequest(ack)); err != nil {
				t.Errorf("acknowledge: %v", err)
			}
		})
	})
	if err := c.Start(ctx); err != nil {
		t.Fatalf("start: %v", err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "ambit-interop", Version: "1.0.0"}
	server, err := c.Initialize(ctx, hello)
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}

	seen := observation{Version: server.ProtocolVersion, Server: server.ServerInfo.Name}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		t.Fatalf("list tools: %v", err)
	}
	for _, tool := range list.Tools {
		seen.Tools = append(seen.Tools, tool.Name)
	}
	for _, call := range calls {
		result, err := c.CallTool(ctx, mcpGoRequest(call))
		seen.Outcomes = append(seen.Outcomes, mcpGoOutcome(t, result, err))
	}
	progress.finish(seen.Outcomes)
	return seen
}

func mcpGoRequest(call call) mcp.CallToolRequest {
	var request mcp.CallToolRequest
	request.Params.Name = call.Name
	if call.Arguments != nil {
		request.Params.Arguments = call.Arguments
	}
	if call.Acknowledge != "" {
		request.Params.Meta = &mcp.Meta{ProgressToken: call.Name}
	}
	return request
}

func mcpGoTransport(t *testing.T, to target) transport.Interface {
	t.Helper()
	if to.URL == "" {
		// The library kills a server that it starts itself when the context of
		// Start ends; the test's own context does the same and waits.
		start := func(_ context.Context, command string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(t.Context(), command, args...)
			cmd.Env = append(cmd.Environ(), env...)
			return cmd, nil
		}
		return transport.NewStdioWithOptions(to.Command[0], nil, to.Command[1:],
			transport.WithCommandFunc(start), transport.WithCommandStderrWriter(t.Output()))
	}
	connections := &http.Transport{}
	t.Cleanup(connections.CloseIdleConnections)
	conn, err := transport.NewStreamableHTTP(to.URL, transport.WithHTTPBasicClient(
		&http.Client{Transport: bearer{token: to.Token, next: connections}},
	))
	if err != nil {
		t.Fatalf("transport: %v", err)
	}
	return conn
}

func mcpGoOutcome(t *testing.T, result *mcp.CallToolResult, err error) outcome {
	t.Helper()
	// The library gives an error for each number that it knows, not the number.
	if errors.Is(err, mcp.ErrInvalidParams) {
		return outcome{Code: mcp.INVALID_PARAMS}
	}
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	o := outcome{Structured: result.StructuredContent, IsError: result.IsError}
	for _, content := range result.Content {
		if text, ok := content.(mcp.TextContent); ok {
			o.Text = text.Text
			break
		}
	}
	return o
}
