package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// signatureJob is what clients/signatures.mjs is to do.
type signatureJob struct {
	With       string          `json:"with"`
	JWK        json.RawMessage `json:"jwk"`
	Message    signedMessage   `json:"message"`
	Label      string          `json:"label,omitempty"`
	Components [][3]string     `json:"components"` // name, member, "req"
	Parameters any             `json:"parameters"`
}

type signedMessage struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers [][2]string `json:"headers"`
	Status  int         `json:"status,omitempty"`
}

// signatureResult is what it prints.
type signatureResult struct {
	Signature, Input      string // when it has signed
	KeyID, Nonce, Refused string // when it has verified
}

func runSignatures(t *testing.T, job signatureJob) (result signatureResult) {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := runNode(t, filepath.Join("clients", "signatures.mjs"), string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if err := json.Unmarshal(stdout, &result); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return result
}

const signingAgent = "https://agent.example.com"

type carriedBy struct {
	Agent string `json:"agent"`
	Level string `json:"level"`
}

// signedServer tells callers which agent carries their calls.
func signedServer(t *testing.T, key webbotauth.Key) *httptest.Server {
	t.Helper()
	agents, err := webbotauth.New(webbotauth.Options{
		Agents: []webbotauth.Agent{{URL: signingAgent, Keys: []webbotauth.Key{key}}}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "signed", Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(ambit.Spec{
		Name: "carrier", Description: "Tell which agent carries the call.", Effect: ambit.Read, Permission: ambit.Public,
		Expose: ambit.HTTP, AgentPolicy: ambit.RequireAgent,
	}, func(ctx context.Context, _ ambit.Empty) (carriedBy, error) {
		agent := ambit.FromContext(ctx).Agent()
		return carriedBy{agent.URL, agent.Level.String()}, nil
	}))
	handler, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{Agents: agents}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		_ = agents.Close()
	})
	return server
}

// TestForeignSigners lets the signers of others sign requests that the verifier
// takes: one in the form of today's draft, at the level of what it covers, one in
// the oldest form.
func TestForeignSigners(t *testing.T) {
	key := webbotauth.GenerateKey()
	jwk, err := key.JWK()
	if err != nil {
		t.Fatal(err)
	}
	server := signedServer(t, key.Public())
	const body = `{}`
	const digest = "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"
	now := time.Now().Unix()
	parameters := map[string]any{"created": now, "expires": now + int64(webbotauth.DefaultBoundLifetime.Seconds()), "keyid": key.Public().Thumbprint(), "alg": "ed25519", "tag": webbotauth.Tag}
	bound := [][3]string{{"@method"}, {"@authority"}, {"@path"}, {"@query"}, {"content-digest"}, {"signature-agent", "sig1"}}
	with := func(name, value string) map[string]any {
		own := map[string]any{name: value}
		for k, v := range parameters {
			own[k] = v
		}
		return own
	}
	for _, test := range []struct {
		name, signer, agent string
		components          [][3]string
		parameters          map[string]any
		want                string
	}{
		{"the draft's minimum", "http-message-sig", `sig1="` + signingAgent + `"`, [][3]string{{"@authority"}, {"signature-agent", "sig1"}}, parameters, "identity"},
		{"bound", "http-message-sig", `sig1="` + signingAgent + `"`, bound, parameters, "request"},
		{"once", "http-message-sig", `sig1="` + signingAgent + webbotauth.WellKnown + `"`, bound, with("nonce", "0123456789abcdef"), "once"},
		{"the oldest form", "web-bot-auth", `"` + signingAgent + `"`, nil, parameters, "identity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			headers := [][2]string{{"Content-Digest", digest}, {"Signature-Agent", test.agent}}
			signed := runSignatures(t, signatureJob{
				With: test.signer, JWK: jwk, Label: "sig1", Components: test.components, Parameters: test.parameters,
				Message: signedMessage{Method: "POST", URL: server.URL + "/api/carrier", Headers: headers},
			})
			r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/api/carrier", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(headers, [2]string{"Content-Type", "application/json"}, [2]string{"Signature-Input", signed.Input}, [2]string{"Signature", signed.Signature}) {
				r.Header.Set(h[0], h[1])
			}
			answer := send(t, r)
			var got struct{ Data carriedBy }
			if err := json.Unmarshal(answer.body, &got); err != nil {
				t.Fatalf("%v: %s", err, answer.body)
			}
			if diff := cmp.Diff(carriedBy{signingAgent + webbotauth.WellKnown, test.want}, got.Data); diff != "" {
				t.Errorf("signed %s\n(-want +got):\n%s\n%s", signed.Input, diff, answer.body)
			}
		})
	}
}

type answered struct {
	*http.Response
	body []byte
}

func send(t *testing.T, r *http.Request) answered {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return answered{response, body}
}

func listed(header http.Header) (list [][2]string) {
	for name, values := range header {
		for _, value := range values {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}

// TestForeignVerifier lets the verifier of others judge what is signed here:
// requests, a directory and a response.
func TestForeignVerifier(t *testing.T) {
	key := webbotauth.GenerateKey()
	public, err := json.Marshal(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	sign, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: signingAgent, Lifetime: webbotauth.DefaultBoundLifetime})
	if err != nil {
		t.Fatal(err)
	}
	const target = "https://app.example.com/api/x?y=a%20b"
	r, err := http.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer x")
	if err := sign.Sign(r); err != nil {
		t.Fatal(err)
	}
	request := signatureJob{
		With: "verify", JWK: public, Label: "sig1",
		Components: [][3]string{{"@method"}, {"@authority"}, {"@path"}, {"@query"}, {"content-digest"}, {"authorization"}, {"signature-agent", "sig1"}},
		Parameters: []string{"created", "expires", "keyid", "alg", "nonce", "tag"},
		Message:    signedMessage{Method: "POST", URL: target, Headers: listed(r.Header)},
	}
	if got := runSignatures(t, request); got.Refused != "" || got.KeyID != key.Public().Thumbprint() || len(got.Nonce) < 16 {
		t.Errorf("request: %+v", got)
	}
	request.Message.URL += "c"
	if got := runSignatures(t, request); got.Refused != "VerificationFailed" {
		t.Errorf("request for another target: %+v", got)
	}

	directory, err := webbotauth.DirectoryHandler(webbotauth.DirectoryOptions{Keys: []webbotauth.Key{key.Public()}, URL: signingAgent, Sign: []webbotauth.PrivateKey{key}})
	if err != nil {
		t.Fatal(err)
	}
	published := httptest.NewServer(directory)
	defer published.Close()
	responses, err := webbotauth.SignResponses(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), webbotauth.ResponseOptions{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	signed := httptest.NewServer(responses)
	defer signed.Close()
	ask, err := http.NewRequestWithContext(t.Context(), "GET", signed.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := webbotauth.AskForResponse(ask)
	if err != nil {
		t.Fatal(err)
	}
	fetch, err := http.NewRequestWithContext(t.Context(), "GET", published.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, url, label, nonce string
		response                answered
		components              [][3]string
		parameters              []string
	}{
		{"directory", signingAgent + webbotauth.WellKnown, "binding0", "", send(t, fetch), [][3]string{{"@authority", "", "req"}, {"content-digest"}}, []string{"created", "expires", "keyid", "tag"}},
		{"response", signed.URL, "sig1", nonce, send(t, ask), [][3]string{{"@status"}, {"content-digest"}}, []string{"created", "keyid", "nonce"}},
	} {
		job := signatureJob{
			With: "verify", JWK: public, Label: test.label, Components: test.components, Parameters: test.parameters,
			Message: signedMessage{Method: "GET", URL: test.url, Headers: listed(test.response.Header), Status: test.response.StatusCode},
		}
		if got := runSignatures(t, job); got.Refused != "" || got.KeyID != key.Public().Thumbprint() || got.Nonce != test.nonce {
			t.Errorf("%s: %+v", test.name, got)
		}
		if test.name == "response" && !bytes.Equal(test.response.body, []byte("hello")) {
			t.Errorf("body %q", test.response.body)
		}
		job.Message.Headers = append(job.Message.Headers, [2]string{"Content-Digest", "sha-256=:AAAA:"})
		if got := runSignatures(t, job); got.Refused != "VerificationFailed" {
			t.Errorf("%s with another digest: %+v", test.name, got)
		}
	}
}
