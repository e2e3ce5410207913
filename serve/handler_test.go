package serve_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
)

func greet(expose ambit.Surface) ambit.AnyCapability {
	return ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet.", Effect: ambit.Read, Permission: ambit.Public, Expose: expose,
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil })
}

func newApp(o ambit.Options, capabilities ...ambit.AnyCapability) *ambit.App {
	o.Name = "served"
	o.Logger = slog.New(slog.DiscardHandler)
	app := ambit.New(o)
	app.Add(capabilities...)
	return app
}

// initialize is a message that opens MCP of the older revisions.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func post(handler http.Handler, path, body string) int {
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder.Code
}

func TestHandler(t *testing.T) {
	t.Parallel()
	open := trust.Options{AllowUnauthenticated: true}
	wrap := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/healthz" {
				_, _ = io.WriteString(w, "ok")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	tests := []struct {
		name    string
		expose  ambit.Surface
		options serve.Options
		want    map[string]bool // path, is there something
	}{
		{"both", ambit.HTTP | ambit.MCP, serve.Options{}, map[string]bool{
			"/api/greet": true, "/mcp": true, "/mcp/": true, "/": false, "/mcp/x": false, "/%6Dcp": false, "/healthz": false,
		}},
		{"moved", ambit.HTTP | ambit.MCP, serve.Options{APIPrefix: "/v1/", MCPPath: "/v1/agents"}, map[string]bool{
			"/v1/greet": true, "/v1/agents": true, "/api/greet": false, "/mcp": false,
		}},
		{"HTTP alone", ambit.HTTP, serve.Options{}, map[string]bool{"/api/greet": true, "/mcp": false}},
		{"MCP alone", ambit.MCP, serve.Options{}, map[string]bool{"/api/greet": false, "/mcp": true}},
		{"wrapped", ambit.HTTP, serve.Options{Wrap: wrap}, map[string]bool{"/api/greet": true, "/healthz": true, "/other": false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Trust = open
			handler, err := serve.Handler(newApp(ambit.Options{}, greet(tt.expose)), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range tt.want {
				body := "{}"
				if !strings.HasSuffix(path, "greet") {
					body = initialize
				}
				if got := post(handler, path, body); (got < 400) != want {
					t.Errorf("POST %s: want something there %v, got status %d", path, want, got)
				}
			}
		})
	}
}

func TestHandlerRefuses(t *testing.T) {
	t.Parallel()
	both := ambit.HTTP | ambit.MCP
	tests := []struct {
		want    string
		options serve.Options
	}{
		{`the path of capability "greet"`, serve.Options{APIPrefix: "/", MCPPath: "/greet"}},
		{"the list of the API", serve.Options{APIPrefix: "/mcp/"}},
		{"MCPPath is", serve.Options{MCPPath: "mcp"}},
		{"MCPPath is", serve.Options{MCPPath: "/mcp/"}},
		{"MCPPath is", serve.Options{MCPPath: "/"}},
		{"MCPPath is", serve.Options{MCPPath: "/a//b"}},
		{"MCPPath is", serve.Options{MCPPath: "/{x}"}},
		{"Options.Prefix is", serve.Options{APIPrefix: "api"}},
		{"MinProtocol", serve.Options{MinProtocol: "1999-01-01"}},
		{"Wrap returned no handler", serve.Options{Wrap: func(http.Handler) http.Handler { return nil }}},
		{"Options.Hosts holds", serve.Options{Trust: trust.Options{Hosts: []string{"a:b:c"}}}},
	}
	for _, tt := range tests {
		handler, err := serve.Handler(newApp(ambit.Options{}, greet(both)), tt.options)
		if handler != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want an error with %q, got %v", tt.want, err)
		}
	}
}

// noted is a ledger with something to say at the start.
type noted struct{ ambit.Ledger }

// noting is an authenticator that has something to say at the start, too.
type noting struct{ trust.Authenticator }

func (noting) Name() string { return "noting" }

func (noting) Notices() []string { return []string{"this lets nobody in"} }

func (noted) Ready() (notice string, err error) { return "this forgets everything", nil }

func TestNoticesAreLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	app := ambit.New(ambit.Options{Name: "served", Ledger: noted{}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if _, err := serve.Handler(app, serve.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{noting{}}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`level=WARN msg="this forgets everything"`, `level=WARN msg="this lets nobody in" authenticator=noting`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("want %s once, got %q", want, log.String())
		}
	}
}

// An application that reads no credentials says at the start what nobody can call.
func TestNoticeOfWhatNobodyCanCall(t *testing.T) {
	t.Parallel()
	define := func(name, permission string, expose ambit.Surface) ambit.AnyCapability {
		return ambit.Define(ambit.Spec{
			Name: name, Description: "Do it.", Effect: ambit.Read, Permission: permission, Expose: expose,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil })
	}
	policy := ambit.PolicyFunc(func(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
		return p.Anonymous() && permission == "guests", nil
	})
	for _, test := range []struct {
		name    string
		options trust.Options
		want    string
	}{
		{"nobody reads credentials", trust.Options{}, `msg="nobody can call over.both, over.http, over.mcp over the network: `},
		{"also where everybody is served", trust.Options{AllowUnauthenticated: true}, `msg="nobody can call over.both, over.http, over.mcp over the network: `},
		{"credentials are read", trust.Options{Authenticators: []trust.Authenticator{noting{}}}, ""},
	} {
		var log strings.Builder
		app := ambit.New(ambit.Options{Name: "served", Policy: policy, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		app.Add(
			define("over.http", "staff", ambit.HTTP), define("over.both", ambit.Authenticated, ambit.HTTP|ambit.MCP), define("over.mcp", "staff", ambit.MCP),
			define("open", ambit.Public, ambit.HTTP|ambit.MCP), define("guests", "guests", ambit.HTTP), define("local", "staff", 0),
		)
		if _, err := serve.Handler(app, serve.Options{Trust: test.options}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(log.String(), "nobody can call"); test.want == "" && got != 0 || !strings.Contains(log.String(), test.want) || got > 1 {
			t.Errorf("%s: want %q once, got %q", test.name, test.want, log.String())
		}
	}
}
