package webbotauth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

type carried struct {
	Agent string `json:"agent"`
	Level string `json:"level"`
}

// carrier tells who carries the call. It is not idempotent, so that whoever
// requires an agent requires one that signs for once.
func carrier(_ context.Context, _ ambit.Empty) (carried, error) { return carried{}, nil }

func application(policy ambit.AgentPolicy) *ambit.App {
	app := ambit.New(ambit.Options{Name: "signed", Logger: silent()})
	app.Add(ambit.Define(ambit.Spec{
		Name: "carry", Description: "Tell who carries the call.", Effect: ambit.Write, Permission: ambit.Public,
		Expose: ambit.HTTP | ambit.MCP, AgentPolicy: policy, Idempotent: policy == ambit.AgentObserve,
	}, func(ctx context.Context, in ambit.Empty) (carried, error) {
		out, err := carrier(ctx, in)
		agent := ambit.FromContext(ctx).Agent()
		out.Agent, out.Level = agent.URL, agent.Level.String()
		return out, err
	}))
	return app
}

// A stranger is told how to sign, signs like that, and is let in once.
func TestSurfacesAskForSignatures(t *testing.T) {
	key := webbotauth.GenerateKey()
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"carry","arguments":{}}}`
	for _, surface := range []struct {
		name, path, body string
		handler          func(*ambit.App, trust.Options) (http.Handler, error)
	}{
		{"httpapi", "/api/carry", "{}", func(app *ambit.App, o trust.Options) (http.Handler, error) {
			return httpapi.New(app, httpapi.Options{Trust: o})
		}},
		{"mcp", "/mcp", message, func(app *ambit.App, o trust.Options) (http.Handler, error) {
			return mcp.New(app, mcp.Options{Trust: o})
		}},
	} {
		t.Run(surface.name, func(t *testing.T) {
			v := verifier(t, key, func(o *webbotauth.Options) { o.PublicURL = "" })
			handler, err := surface.handler(application(ambit.RequireAgent), trust.Options{Agents: v})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(handler)
			defer server.Close()
			request := func() *http.Request {
				r := outgoing(t, "POST", server.URL+surface.path, surface.body)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				return r
			}
			response, body := do(t, request())
			accept := response.Header.Get("Accept-Signature")
			if response.StatusCode != http.StatusForbidden || !strings.Contains(body, "agent_required") ||
				!strings.HasPrefix(accept, `sig1=("@method" "@target-uri" "content-digest"`) || !strings.Contains(accept, `;nonce="`) {
				t.Fatalf("unsigned: %d %s\nAccept-Signature: %s", response.StatusCode, body, accept)
			}
			const noted = "The signature that came with the request does not do."
			if strings.Contains(body, noted) {
				t.Errorf("unsigned: want nothing said of a signature, got %s", body)
			}
			wrong := map[string]bool{} // the answers to signatures that do not do
			// A cookie, as a load balancer sets it, is signed like any other header.
			r := request()
			r.Header.Set("Cookie", "balancer=7")
			response, _ = do(t, r.Clone(r.Context()))
			if accept := response.Header.Get("Accept-Signature"); !strings.Contains(accept, `"cookie"`) {
				t.Errorf("unsigned, with a cookie: Accept-Signature is %s", accept)
			}
			r = request()
			r.Header.Set("Cookie", "balancer=7")
			if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
				t.Fatal(err)
			}
			if response, body := do(t, r); response.StatusCode != 200 || !strings.Contains(body, agentID) {
				t.Errorf("signed with a cookie: %d %s", response.StatusCode, body)
			}
			r = request()
			if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Cookie", "added=1")
			if response, body := do(t, r); response.StatusCode != 403 {
				t.Errorf("with a cookie that is not signed: %d %s", response.StatusCode, body)
			}
			for level, want := range map[ambit.AgentLevel]int{ambit.AgentIdentified: 403, ambit.AgentRequest: 403, ambit.AgentOnce: 200} {
				r := request()
				if err := signer(t, key, level).Sign(r); err != nil {
					t.Fatal(err)
				}
				again := r.Clone(r.Context())
				again.Body, _ = r.GetBody()
				response, body := do(t, r)
				if response.StatusCode != want || want == 200 && !strings.Contains(body, agentID) {
					t.Errorf("%s: %d %s", level, response.StatusCode, body)
				}
				if want == 403 {
					wrong[body] = true
				}
				response, body = do(t, again)
				if wrong[body] = true; response.StatusCode != 403 {
					t.Errorf("%s again: %d %s", level, response.StatusCode, body)
				}
			}
			for body := range wrong {
				if len(wrong) != 1 || !strings.Contains(body, noted) {
					t.Errorf("want one answer to all signatures that do not do, with %q, got %q", noted, body)
				}
			}
		})
	}
}

// Where an agent is only observed, a signature that does not hold costs nothing
// but the name.
func TestObservedAgents(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key, func(o *webbotauth.Options) { o.PublicURL = "" })
	handler, err := httpapi.New(application(ambit.AgentObserve), httpapi.Options{Trust: trust.Options{Agents: v}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	call := func(change func(*http.Request)) carried {
		r := outgoing(t, "POST", server.URL+"/api/carry", "{}")
		r.Header.Set("Content-Type", "application/json")
		change(r)
		response, body := do(t, r)
		var answer struct{ Data carried }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || response.StatusCode != 200 {
			t.Errorf("%d %s", response.StatusCode, body)
		}
		return answer.Data
	}
	sign := func(r *http.Request) {
		if err := signer(t, key, ambit.AgentRequest).Sign(r); err != nil {
			t.Fatal(err)
		}
	}
	got := []carried{
		call(func(*http.Request) {}),
		call(sign),
		call(func(r *http.Request) { sign(r); r.Header.Set("Ambit-Reason", "added on the way") }),
		call(func(r *http.Request) { sign(r); r.Header.Set("Content-Digest", "sha-256=:AAAA:") }),
	}
	want := []carried{{"", "none"}, {agentID, "request"}, {agentID, "identity"}, {"", "none"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
