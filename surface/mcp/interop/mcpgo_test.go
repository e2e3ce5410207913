package interop_test

import (
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
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
	connection, ended := mcpGoTransport(t, to)
	c := mcpgo.NewClient(connection, mcpgo.WithProtocolVersion(era), mcpgo.WithDiscoverTimeout(-1))
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
		if err := ended(); err != nil {
			t.Errorf("the server ended: %v", err)
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

// mcpGoTransport returns the way to a server, and what waits until one that was
// started for it has ended. The library would kill it two seconds after the end of
// its input.
func mcpGoTransport(t *testing.T, to target) (way transport.Interface, ended func() error) {
	t.Helper()
	if to.URL == "" {
		cmd := exec.CommandContext(t.Context(), to.Command[0], to.Command[1:]...)
		cmd.Stderr = t.Output()
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatalf("start the server: %v", err)
		}
		return transport.NewIO(out, in, io.NopCloser(strings.NewReader(""))), cmd.Wait
	}
	connections := &http.Transport{}
	t.Cleanup(connections.CloseIdleConnections)
	conn, err := transport.NewStreamableHTTP(to.URL, transport.WithHTTPBasicClient(
		&http.Client{Transport: bearer{token: to.Token, next: connections}},
	))
	if err != nil {
		t.Fatalf("transport: %v", err)
	}
	return conn, func() error { return nil }
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
