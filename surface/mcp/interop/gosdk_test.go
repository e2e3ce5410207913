package interop_test

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// observeGoSDK uses the official Go SDK. The era is the revision to ask for;
// empty leaves it to the SDK.
func observeGoSDK(t *testing.T, to target, era string, calls []call) observation {
	t.Helper()
	ctx := t.Context()
	progress := follower{calls: calls}
	options := &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress.saw(r.Params.ProgressToken, r.Params.Progress, func(ack call) {
				if _, err := r.Session.CallTool(ctx, goSDKParams(ack)); err != nil {
					t.Errorf("acknowledge: %v", err)
				}
			})
		},
	}
	if to.Shows {
		options.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if r.Params.Mode != "url" {
				return nil, errors.New("want an address to show, got the mode " + r.Params.Mode)
			}
			return &mcp.ElicitResult{Action: "accept"}, visit(ctx, r.Params.URL)
		}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "ambit-interop", Version: "1.0.0"}, options)
	session, err := c.Connect(ctx, goSDKTransport(t, to), &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()

	hello := session.InitializeResult()
	seen := observation{Version: hello.ProtocolVersion, Server: hello.ServerInfo.Name}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatalf("list tools: %v", err)
		}
		seen.Tools = append(seen.Tools, tool.Name)
	}
	for _, call := range calls {
		result, err := session.CallTool(ctx, goSDKParams(call))
		seen.Outcomes = append(seen.Outcomes, goSDKOutcome(t, result, err))
	}
	progress.finish(seen.Outcomes)
	return seen
}

func goSDKParams(call call) *mcp.CallToolParams {
	params := &mcp.CallToolParams{Name: call.Name, RequestState: call.State}
	if call.Accepts {
		params.InputResponses = mcp.InputResponseMap{"approval": &mcp.ElicitResult{Action: "accept"}}
	}
	if call.Arguments != nil {
		params.Arguments = call.Arguments
	}
	if call.Acknowledge != "" {
		params.SetProgressToken(call.Name)
	}
	return params
}

func goSDKTransport(t *testing.T, to target) mcp.Transport {
	t.Helper()
	if to.URL == "" {
		cmd := exec.CommandContext(t.Context(), to.Command[0], to.Command[1:]...)
		cmd.Stderr = t.Output()
		return &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Hour}
	}
	connections := &http.Transport{}
	t.Cleanup(connections.CloseIdleConnections)
	return &mcp.StreamableClientTransport{
		Endpoint:   to.URL,
		HTTPClient: &http.Client{Transport: bearer{token: to.Token, next: connections}},
	}
}

func goSDKOutcome(t *testing.T, result *mcp.CallToolResult, err error) outcome {
	t.Helper()
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return outcome{Code: int(wire.Code)}
	}
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	o := outcome{Structured: result.StructuredContent, IsError: result.IsError}
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			o.Text = text.Text
			break
		}
	}
	return o
}

// bearer adds the target's credential to every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}
