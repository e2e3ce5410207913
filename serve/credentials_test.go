package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// whoami is an application whose one capability says who calls it.
func whoami() *ambit.App {
	app := ambit.New(ambit.Options{Name: "whoami", Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(ambit.Spec{
		Name: "me", Description: "Say who calls.", Effect: ambit.Read, Permission: ambit.Authenticated, Expose: ambit.HTTP | ambit.MCP,
	}, func(ctx context.Context, _ ambit.Empty) (string, error) {
		return ambit.FromContext(ctx).Principal().Key(), nil
	}))
	return app
}

// ask calls it on a surface and says what came of it in a line.
func ask(handler http.Handler, surface string, adjust ...func(*http.Request)) string {
	path, body := "/api/me", "{}"
	if surface == "MCP" {
		path, body = "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me","arguments":{}}}`
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, f := range adjust {
		f(r)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	text := recorder.Body.String()
	for _, who := range []string{"0:/6:apikey/alice", "0:/22:https://issuer.example/alice"} {
		if recorder.Code == http.StatusOK && strings.Contains(text, who) {
			return who
		}
	}
	return fmt.Sprint(recorder.Code, " ", strings.Join(recorder.Header().Values("WWW-Authenticate"), " | "))
}

func authorization(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", value) }
}

// API keys and access tokens come in the same header. Each goes to who knows it,
// whichever is asked first, and what is neither is nobody's.
func TestT02_KeysBesideTokens(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	keys, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	tokens, err := oauth.New(oauth.Options{
		Resources: []oauth.Resource{
			{URL: "http://localhost/api", Audiences: []string{"notes"}}, {URL: "http://localhost/mcp", Audiences: []string{"notes"}},
		},
		Issuers: []oauth.Issuer{{URL: "https://issuer.example"}},
		Verify: func(_ context.Context, token string, _ oauth.Request) (*ambit.Principal, error) {
			shown = append(shown, token)
			if token != "token-of-alice" {
				return nil, errors.New("no such token")
			}
			return &ambit.Principal{Subject: "alice", Unscoped: true}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tokens.Close)
	const byKey, byToken = "0:/6:apikey/alice", "0:/22:https://issuer.example/alice"
	app := whoami()
	for order, list := range map[string][]trust.Authenticator{"keys first": {keys, tokens}, "tokens first": {tokens, keys}} {
		handler, err := serve.Handler(app, serve.Options{Trust: trust.Options{Authenticators: list, PublicURL: "http://localhost"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, surface := range []string{"HTTP", "MCP"} {
			metadata := map[string]string{"HTTP": "api", "MCP": "mcp"}[surface]
			challenge := `Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource/` + metadata + `"`
			invalid := `Bearer error="invalid_token", resource_metadata="http://localhost/.well-known/oauth-protected-resource/` + metadata + `"`
			for _, tt := range []struct{ name, credential, want string }{
				{"a key", "Bearer " + key, byKey},
				{"a token", "Bearer token-of-alice", byToken},
				{"the key of another application", "Bearer sk_live_0123456789abcdef", "401 " + invalid},
				{"a key that is not ours", "Bearer " + apikey.Generate(), "401 " + invalid},
				{"a key that is damaged", "Bearer " + key[:43], "401 " + invalid},
				{"a token that is not ours", "Bearer token-of-mallory", "401 " + invalid},
				{"another scheme", "Basic YTpi", "401 " + challenge},
				{"nothing", "", "401 " + challenge},
			} {
				var adjust []func(*http.Request)
				if tt.credential != "" {
					adjust = append(adjust, authorization(tt.credential))
				}
				if diff := cmp.Diff(tt.want, ask(handler, surface, adjust...)); diff != "" {
					t.Errorf("%s, %s, %s (-want +got):\n%s", order, surface, tt.name, diff)
				}
			}
		}
	}
	for _, token := range shown {
		if strings.HasPrefix(token, "ambit_") {
			t.Fatal("an API key was shown to the check of tokens")
		}
	}
}

// Guessing behind a proxy is slow for who guesses and for nobody else, on both
// surfaces.
func TestT25_GuessesBehindAProxy(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	keys, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := serve.Handler(whoami(), serve.Options{Trust: trust.Options{
		Authenticators: []trust.Authenticator{keys}, Proxies: []string{"10.0.0.7"}, ProxyHeader: "X-Forwarded-For", Refusals: ambit.Rate{Calls: 3, Per: time.Hour, Burst: 3},
	}})
	if err != nil {
		t.Fatal(err)
	}
	behind := func(sender string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = "10.0.0.7:40000"
			r.Header.Set("X-Forwarded-For", sender)
		}
	}
	for _, surface := range []string{"HTTP", "MCP"} {
		for i := range 3 {
			// What a sender puts before its own address makes it nobody else.
			sender := behind(fmt.Sprintf("198.51.100.%d, 203.0.113.5", i))
			if got := ask(handler, surface, sender, authorization("Bearer "+apikey.Generate())); !strings.HasPrefix(got, "401 ") {
				t.Errorf("%s, guess %d: want 401, got %s", surface, i, got)
			}
		}
		for _, tt := range []struct{ sender, want string }{{"203.0.113.5", "429 "}, {"203.0.113.6", "0:/6:apikey/alice"}, {"2001:db8::1", "0:/6:apikey/alice"}} {
			if got := ask(handler, surface, behind(tt.sender), authorization("Bearer "+key)); got != tt.want {
				t.Errorf("%s, the right key from %s: want %s, got %s", surface, tt.sender, tt.want, got)
			}
		}
	}
}
