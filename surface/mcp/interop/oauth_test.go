package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// authorized is what a client tells that obtained tokens by itself: what the tools
// answered, and the scopes that it asked the authorization server for, each time.
type authorized struct {
	Texts []string `json:"texts"`
	Asked []string `json:"asked"`
}

// TestAuthorization lets the official clients find out for themselves how to get in:
// 401, metadata, the authorization server's own, authorization with PKCE, token, call;
// then a tool that needs another scope: 403, authorization for both, call.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, address string) authorized
	}{
		{"go sdk/default", authorizeGoSDK("")},
		{"go sdk/" + newest, authorizeGoSDK(newest)},
		{"typescript 1", authorizeTypeScript("oauth_v1.mjs")},
		{"typescript 2/legacy", authorizeTypeScript("oauth_v2.mjs", "legacy")},
		{"typescript 2/modern", authorizeTypeScript("oauth_v2.mjs", "modern")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, seen := serveAuthorized(t)
			got := c.run(t, address)
			want := authorized{
				Texts: []string{"alice reads", "alice writes", "alice reads"},
				Asked: []string{"notes", "notes notes:write"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			metadata := `resource_metadata="` + strings.Replace(address, "/mcp", "/.well-known/oauth-protected-resource/mcp", 1) + `"`
			challenges := []string{
				`401 Bearer scope="notes", ` + metadata,
				`403 Bearer error="insufficient_scope", scope="notes notes:write", ` + metadata,
			}
			if diff := cmp.Diff(challenges, seen()); diff != "" {
				t.Errorf("challenges (-want +got):\n%s", diff)
			}
		})
	}
}

// serveAuthorized serves two tools to who has a token of an issuer, on a mux of its
// own. It returns the endpoint's address, and what returns the challenges that were
// sent.
func serveAuthorized(t *testing.T) (address string, seen func() []string) {
	t.Helper()
	issuer, err := issuertest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(issuer.Close)
	endpoint := httptest.NewUnstartedServer(nil)
	address = "http://" + endpoint.Listener.Addr().String() + "/mcp"
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	tokens, err := oauth.New(oauth.Options{
		Resources: []oauth.Resource{{URL: address, Audiences: []string{address}, Scopes: []string{"notes"}, MoreScopes: []string{"notes:write"}}},
		Issuers:   []oauth.Issuer{{URL: issuer.URL}},
		Loopback:  true, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tokens.Close)
	know(t, tokens, issuer, address)
	who := trust.Options{Authenticators: []trust.Authenticator{tokens}}
	server, err := mcp.New(authorizedApp(logger), mcp.Options{Trust: who})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server)
	front, err := trust.Front(who, mux)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var challenges []string
	endpoint.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		front.ServeHTTP(recorder, r)
		if recorder.Code == http.StatusUnauthorized || recorder.Code == http.StatusForbidden {
			mu.Lock() // before the client goes on because of it
			challenges = append(challenges, strings.Fields(recorder.Result().Status)[0]+" "+recorder.Header().Get("Www-Authenticate"))
			mu.Unlock()
		}
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes()) // a client that has gone needs no answer
	})
	endpoint.Start()
	t.Cleanup(endpoint.Close)
	return address, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return challenges
	}
}

// know waits until the issuer's keys are there, however often a busy machine makes them
// late.
func know(t *testing.T, tokens *oauth.Authenticator, issuer *issuertest.Issuer, address string) {
	t.Helper()
	token, err := issuer.Token(issuer.Claims("alice", address, "notes"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, address, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	for _, err = tokens.Authenticate(r); ambit.CodeOf(err) == ambit.CodeUnavailable; _, err = tokens.Authenticate(r) {
	}
	if err != nil {
		t.Fatal(err)
	}
}

func authorizedApp(logger *slog.Logger) *ambit.App {
	app := ambit.New(ambit.Options{Name: "notes", Version: "1.0.0", Logger: logger})
	tool := func(name string, effect ambit.Effect, does string, scopes ...string) ambit.AnyCapability {
		return ambit.Define(ambit.Spec{
			Name: name, Description: "For tests.", Effect: effect, Permission: ambit.Authenticated, Expose: ambit.MCP, Scopes: scopes,
		}, func(ctx context.Context, _ ambit.Empty) (string, error) {
			return ambit.FromContext(ctx).Principal().Subject + " " + does, nil
		})
	}
	app.Add(tool("notes.read", ambit.Read, "reads"), tool("notes.write", ambit.Write, "writes", "notes:write"))
	return app
}

// authorizeGoSDK uses the official Go SDK's own handler of authorization.
func authorizeGoSDK(era string) func(*testing.T, string) authorized {
	return func(t *testing.T, address string) (got authorized) {
		t.Helper()
		connections := &http.Transport{}
		t.Cleanup(connections.CloseIdleConnections)
		client := &http.Client{
			Transport:     connections,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
			PreregisteredClient: &oauthex.ClientCredentials{ClientID: "ambit-interop"},
			RedirectURL:         "http://127.0.0.1/callback",
			Client:              client,
			AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
				asked, err := url.Parse(args.URL)
				if err != nil {
					return nil, err
				}
				scopes := strings.Fields(asked.Query().Get("scope"))
				slices.Sort(scopes) // the SDK unites them in a map
				got.Asked = append(got.Asked, strings.Join(scopes, " "))
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
				if err != nil {
					return nil, err
				}
				response, err := client.Do(r)
				if err != nil {
					return nil, err
				}
				defer func() { _ = response.Body.Close() }()
				back, err := response.Location()
				if err != nil {
					return nil, err
				}
				q := back.Query()
				return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := gosdk.NewClient(&gosdk.Implementation{Name: "ambit-interop", Version: "1.0.0"}, nil)
		session, err := c.Connect(t.Context(), &gosdk.StreamableClientTransport{Endpoint: address, HTTPClient: client, OAuthHandler: handler},
			&gosdk.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		defer func() { _ = session.Close() }()
		for _, name := range []string{"notes_read", "notes_write", "notes_read"} {
			result, err := session.CallTool(t.Context(), &gosdk.CallToolParams{Name: name})
			got.Texts = append(got.Texts, goSDKOutcome(t, result, err).Text)
		}
		return got
	}
}

// authorizeTypeScript uses the TypeScript SDK through a script.
func authorizeTypeScript(script string, args ...string) func(*testing.T, string) authorized {
	return func(t *testing.T, address string) (got authorized) {
		t.Helper()
		stdout, stderr, err := runNode(t, filepath.Join("clients", script), append([]string{address}, args...)...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stderr)
		}
		if err := json.Unmarshal(stdout, &got); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stdout)
		}
		return got
	}
}
