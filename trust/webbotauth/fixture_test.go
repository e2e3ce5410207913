package webbotauth_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

const (
	agentURL  = "https://agent.test"
	agentID   = agentURL + webbotauth.WellKnown
	publicURL = "https://app.test"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// verifier returns one that knows the agent at agentURL by this key.
func verifier(t testing.TB, key webbotauth.PrivateKey, adjust ...func(*webbotauth.Options)) *webbotauth.Verifier {
	t.Helper()
	o := webbotauth.Options{
		Agents:    []webbotauth.Agent{{URL: agentURL, Keys: []webbotauth.Key{key.Public()}}},
		PublicURL: publicURL, Logger: silent(),
	}
	for _, change := range adjust {
		change(&o)
	}
	v, err := webbotauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func signer(t testing.TB, key webbotauth.PrivateKey, level ambit.AgentLevel) *webbotauth.Signer {
	t.Helper()
	s, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: agentURL, Level: level})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outgoing is a request as a client has it.
func outgoing(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// arrive turns a request that a client would send into the one that a server
// gets, and returns the body beside it.
func arrive(t testing.TB, r *http.Request) (*http.Request, []byte) {
	t.Helper()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
	}
	at := httptest.NewRequest(r.Method, r.URL.RequestURI(), bytes.NewReader(body))
	at.Host, at.Header = r.URL.Host, r.Header.Clone()
	if r.Host != "" {
		at.Host = r.Host
	}
	return at, body
}

// verdict is what a verifier says about a request.
type verdict struct {
	Agent   string
	Level   string
	Outcome string
}

func judge(t testing.TB, v *webbotauth.Verifier, r *http.Request, body []byte) verdict {
	t.Helper()
	signed := v.Verify(r)
	if signed == nil {
		return verdict{"", "none", "unsigned"}
	}
	agent := signed.Agent
	if signed.Settle != nil && agent.Verified() {
		agent = signed.Settle(r.Context(), body)
	}
	return verdict{agent.URL, agent.Level.String(), signed.Outcome}
}

// seen is what a guard says about a request that came through a real server.
type seen struct {
	verdict
	refused ambit.Code
}

// serve returns a server that guards every path and tells what it saw.
func serve(t *testing.T, v *webbotauth.Verifier, hosts ...string) (*httptest.Server, <-chan seen) {
	t.Helper()
	app := ambit.New(ambit.Options{Name: "signed", Logger: silent()})
	guard, err := trust.NewGuard(app, trust.Options{Agents: v, Hosts: hosts, AllowUnauthenticated: true})
	if err != nil {
		t.Fatal(err)
	}
	found := make(chan seen, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identity, refused := guard.Admit(r)
		if refused != nil {
			found <- seen{refused: refused.Code}
			return
		}
		body, refused := trust.ReadBody(w, r, identity, nil, 1<<20)
		if refused != nil {
			found <- seen{refused: refused.Code}
			return
		}
		agent := guard.Settle(r, identity, body)
		outcome := "unsigned"
		if identity.Signed != nil {
			outcome = identity.Signed.Outcome
		}
		found <- seen{verdict: verdict{agent.URL, agent.Level.String(), outcome}}
	}))
	t.Cleanup(server.Close)
	return server, found
}
