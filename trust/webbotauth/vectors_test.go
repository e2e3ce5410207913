package webbotauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func mustKey(t *testing.T, jwk []byte) webbotauth.Key {
	t.Helper()
	key, err := webbotauth.ParseKey(jwk)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

type signedCase struct {
	ID, Title, Method, URL string
	Headers                [][2]string
	Body                   string
	Now                    int64
	Policy                 string
	Outcome, Agent, Reason string
}

type down struct{}

func (down) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nothing is reachable")
}

// Every case comes through a real server and a guard. What a policy of the cases
// wants beyond a signature that holds is a level here: "bound" is that of the
// request, "nonce" asks for one that was not used.
func TestCases(t *testing.T) {
	var file struct {
		Cases       []signedCase
		Key1, Key2  json.RawMessage
		Directories map[string][]string
	}
	load(t, "webbotauth-cases.json", &file)
	if len(file.Cases) < 30 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	agents := map[string][]webbotauth.Agent{
		"keys given": {
			{URL: "https://signature-agent.test", Keys: []webbotauth.Key{mustKey(t, file.Key1)}},
			{URL: "https://signature-agent.test/jwks.json", Keys: []webbotauth.Key{mustKey(t, file.Key1)}},
			{URL: "https://other-agent.test", Keys: []webbotauth.Key{mustKey(t, file.Key2)}},
			{URL: "https://down-agent.test", Directory: true},
		},
		"keys fetched": {
			{URL: "https://signature-agent.test", Directory: true},
			{URL: "https://signature-agent.test/jwks.json", Directory: true},
			{URL: "https://other-agent.test", Directory: true},
			{URL: "https://down-agent.test", Directory: true},
		},
	}
	for name, known := range agents {
		v, err := webbotauth.New(webbotauth.Options{PublicURL: publicURL, Logger: silent(), Agents: known})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		v.BelievePublished()
		v.FetchBy(published{file.Directories, []webbotauth.Key{mustKey(t, file.Key1), mustKey(t, file.Key2)}})
		server, found := serve(t, v, "app.test", "evil.test")
		for _, c := range file.Cases {
			t.Run(name+"/"+c.ID+" "+c.Title, func(t *testing.T) {
				v.At(time.Unix(c.Now, 0))
				send(t, server.URL, c.Method, c.URL, c.Headers, c.Body)
				got := <-found
				if diff := cmp.Diff(c.want(), got.verdict); diff != "" || got.refused != "" {
					t.Errorf("refused %q, verdict (-want +got):\n%s", got.refused, diff)
				}
			})
		}
	}
}

// published answers for the directories of the cases, and for no others.
type published struct {
	directories map[string][]string // thumbprints by URL
	keys        []webbotauth.Key
}

func (p published) RoundTrip(r *http.Request) (*http.Response, error) {
	thumbprints, ok := p.directories[r.URL.String()]
	if !ok {
		return nil, errors.New("nothing is reachable")
	}
	var set struct {
		Keys []webbotauth.Key `json:"keys"`
	}
	for _, key := range p.keys {
		if slices.Contains(thumbprints, key.Thumbprint()) {
			set.Keys = append(set.Keys, key)
		}
	}
	body, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/http-message-signatures-directory+json"}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// What the cases say about a policy that wants the whole request bound, a
// capability with that policy says too.
func TestCasesOfACapability(t *testing.T) {
	var file struct {
		Cases []signedCase
		Key1  json.RawMessage
	}
	load(t, "webbotauth-cases.json", &file)
	v, err := webbotauth.New(webbotauth.Options{
		PublicURL: publicURL, Logger: silent(),
		Agents: []webbotauth.Agent{{URL: "https://signature-agent.test", Keys: []webbotauth.Key{mustKey(t, file.Key1)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v.BelievePublished()
	app := ambit.New(ambit.Options{Name: "cases", Logger: silent()})
	for _, name := range []string{"notes.purge", "accounts.delete"} {
		app.Add(ambit.Define(ambit.Spec{
			Name: name, Description: "Look what would go.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP, AgentPolicy: ambit.RequireAgentRequest,
		}, func(context.Context, struct {
			Prefix string `json:"prefix"`
		},
		) (ambit.Empty, error) {
			return ambit.Empty{}, nil
		}))
	}
	handler, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{Agents: v, PublicURL: publicURL, AllowUnauthenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	// The cases have paths and a query that no capability has: a handler in front changes
	// them, and what is verified is the request line.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawQuery = strings.ReplaceAll(r.URL.Path, ".", "/"), ""
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	got, want := map[string]int{}, map[string]int{}
	for _, c := range file.Cases {
		if c.Policy != "bound" {
			continue
		}
		want[c.ID] = http.StatusForbidden
		if c.Outcome == "verified" {
			want[c.ID] = http.StatusOK
		}
		v.At(time.Unix(c.Now, 0))
		got[c.ID] = send(t, server.URL, c.Method, c.URL, append(c.Headers, [2]string{"Content-Type", "application/json"}), c.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 4 {
		t.Errorf("%d cases (-want +got):\n%s", len(want), diff)
	}
}

// want says what a case comes to with levels in the place of policies.
func (c signedCase) want() verdict {
	agent, level := c.Agent, ambit.AgentIdentified
	switch c.Reason {
	case "request-not-bound", "nonce-missing": // holds, and is not enough for what requires more
		return verdict{"https://signature-agent.test" + webbotauth.WellKnown, level.String(), "verified"}
	}
	switch {
	case c.Outcome == "unsigned":
		return verdict{"", "none", "unsigned"}
	case c.Outcome != "verified":
		return verdict{"", "none", c.Outcome + "/" + c.Reason}
	case c.Policy == "bound":
		level = ambit.AgentOnce // P04 has a nonce
	}
	return verdict{agent, level.String(), "verified"}
}

// send sends a request to a server as if it were where the URL says.
func send(t *testing.T, server, method, target string, headers [][2]string, body string) (status int) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := outgoing(t, method, server+u.RequestURI(), body)
	r.Host = u.Host
	for _, h := range headers {
		r.Header.Add(h[0], h[1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return response.StatusCode
}

// Outside of tests the published keys verify nothing, however good the signature.
func TestT31_PublishedKeys(t *testing.T) {
	var file struct {
		Cases []signedCase
		Key1  json.RawMessage
	}
	load(t, "webbotauth-cases.json", &file)
	v, err := webbotauth.New(webbotauth.Options{
		PublicURL: publicURL, Logger: silent(),
		Agents: []webbotauth.Agent{{URL: "https://signature-agent.test", Keys: []webbotauth.Key{mustKey(t, file.Key1)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, found := serve(t, v, "app.test")
	for _, c := range file.Cases {
		if c.Outcome != "verified" {
			continue
		}
		v.At(time.Unix(c.Now, 0))
		send(t, server.URL, c.Method, c.URL, c.Headers, c.Body)
		if diff := cmp.Diff(verdict{"", "none", "invalid/key-published"}, (<-found).verdict); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
}

// The vectors of the older drafts, of which the ones without Signature-Agent are
// good for the arithmetic alone: no agent is found, and the signature holds.
func TestCloudflareVectors(t *testing.T) {
	type vector struct {
		Key            json.RawMessage
		TargetURL      string `json:"target_url"`
		CreatedMS      int64  `json:"created_ms"`
		Label          string
		Signature      string
		SignatureInput string `json:"signature_input"`
		SignatureAgent string `json:"signature_agent"`
	}
	for _, name := range []string{"cf_web_bot_auth_architecture_v1.json", "cf_web_bot_auth_architecture_v2.json"} {
		var vectors []vector
		load(t, name, &vectors)
		for _, x := range vectors {
			t.Run(name+" "+x.Label, func(t *testing.T) {
				want := verdict{"https://signature-agent.test" + webbotauth.WellKnown, "identity", "verified"}
				agent := webbotauth.Agent{URL: "https://signature-agent.test", Directory: true}
				rsa := strings.Contains(x.SignatureInput, "rsa-pss-sha512")
				switch {
				case rsa:
					want = verdict{"", "none", "invalid/algorithm-not-allowed"}
				case x.SignatureAgent == "":
					want = verdict{"", "none", "unverified/signature-agent-absent"}
					signatures, err := messagesig.Parse([]string{x.SignatureInput}, []string{x.Signature})
					if err != nil || len(signatures) != 1 {
						t.Fatalf("%d signatures, %v", len(signatures), err)
					}
					base, err := signatures[0].Base(&messagesig.Message{Method: http.MethodGet, Scheme: "https", Authority: "example.com"})
					if key := mustKey(t, x.Key); err != nil || !key.Verifies(base, signatures[0].Value()) {
						t.Errorf("the signature does not hold over %q, %v", base, err)
					}
				}
				if !rsa {
					agent.Keys = []webbotauth.Key{mustKey(t, x.Key)}
				}
				v, err := webbotauth.New(webbotauth.Options{
					Agents: []webbotauth.Agent{agent}, PublicURL: "https://example.com", Lifetime: 200 * 365 * 24 * time.Hour, Logger: silent(),
				})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = v.Close() }()
				v.BelievePublished()
				v.FetchBy(down{})
				v.At(time.UnixMilli(x.CreatedMS).Add(time.Minute))
				headers := [][2]string{{"Signature", x.Signature}, {"Signature-Input", x.SignatureInput}}
				if x.SignatureAgent != "" {
					headers = append(headers, [2]string{"Signature-Agent", x.SignatureAgent})
				}
				server, found := serve(t, v, "example.com")
				send(t, server.URL, http.MethodGet, x.TargetURL, headers, "")
				if diff := cmp.Diff(want, (<-found).verdict); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestSignatureAgentForms(t *testing.T) {
	var forms []struct {
		Name, Header string
		Entries      []struct{ Label, URI, Type string }
	}
	load(t, "cf_web_bot_auth_signature_agent_v1.json", &forms)
	for _, form := range forms {
		entry := form.Entries[0]
		agent, why := agentOf(t, `"@authority" "signature-agent";key="`+entry.Label+`"`, form.Header)
		want, wantWhy := entry.URI, ""
		switch entry.Type {
		case "directory":
			want += webbotauth.WellKnown
		case "cimd":
			want, wantWhy = "", "unverified/signature-agent-type"
		}
		if agent != want || why != wantWhy {
			t.Errorf("%s: %q %q, want %q %q", form.Name, agent, why, want, wantWhy)
		}
	}

	const own = `"signature-agent";key="sig1"`
	for _, test := range []struct{ name, covered, header, agent, why string }{
		{"string", `"signature-agent"`, `"https://a.test"`, "https://a.test" + webbotauth.WellKnown, ""},
		{"string of a key set", `"signature-agent"`, `"https://a.test/keys"`, "https://a.test/keys", ""},
		{"dictionary covered as a whole", `"signature-agent"`, `sig1="https://a.test"`, "https://a.test" + webbotauth.WellKnown, ""},
		{"key set", own, `sig1="https://a.test/keys.json"`, "https://a.test/keys.json", ""},
		{"query", own, `sig1="https://a.test/keys.json?v=2"`, "https://a.test/keys.json", ""},
		{"capitals and port", own, `sig1="HTTPS://A.test:443/"`, "https://a.test" + webbotauth.WellKnown, ""},
		{"another port", own, `sig1="https://a.test:8443"`, "https://a.test:8443" + webbotauth.WellKnown, ""},
		{"key set that is an origin", own, `sig1="https://a.test";type=jwks_uri`, "https://a.test/", ""},
		{"another's member beside", own + ` "signature-agent";key="sig2"`, `sig1="https://a.test", sig2="https://b.test"`, "https://a.test" + webbotauth.WellKnown, ""},
		{"one member of another label", `"signature-agent";key="other"`, `other="https://b.test"`, "https://b.test" + webbotauth.WellKnown, ""},

		{"two members of other labels", `"signature-agent";key="x" "signature-agent";key="y"`, `x="https://a.test", y="https://b.test"`, "", "invalid/signature-agent-not-covered"},
		{"string where a member is covered", own, `"https://a.test"`, "", "invalid/signature-agent-member-missing"},
		{"other parameters", own, `sig1="https://a.test";v=2`, "", "invalid/signature-agent-member-missing"},
		{"type that is no token", own, `sig1="https://a.test";type="directory"`, "", "invalid/signature-agent-member-missing"},
		{"member that is no string", own, `sig1=https`, "", "invalid/signature-agent-member-missing"},
		{"duplicate member", own, `sig1="https://a.test", sig1="https://b.test"`, "", "invalid/signature-agent-unreadable"},
		{"http", own, `sig1="http://a.test"`, "", "invalid/signature-agent-not-https"},
		{"user", own, `sig1="https://u@a.test"`, "", "invalid/signature-agent-not-https"},
		{"fragment", own, `sig1="https://a.test/#x"`, "", "invalid/signature-agent-not-https"},
		{"empty fragment", own, `sig1="https://a.test/#"`, "", "invalid/signature-agent-not-https"},
		{"no host", own, `sig1="https:///keys"`, "", "invalid/signature-agent-not-https"},
		{"only a port", own, `sig1="https://:8443"`, "", "invalid/signature-agent-not-https"},
		{"dots", own, `sig1="https://a.test/x/../keys"`, "", "invalid/signature-agent-not-https"},
		{"escaped dots", own, `sig1="https://a.test/%2E%2e/keys"`, "", "invalid/signature-agent-not-https"},
		{"long", own, `sig1="https://a.test/` + strings.Repeat("x", 3000) + `"`, "", "invalid/signature-agent-not-https"},
	} {
		agent, why := agentOf(t, test.covered, test.header)
		if agent != test.agent || why != test.why {
			t.Errorf("%s: %q %q, want %q %q", test.name, agent, why, test.agent, test.why)
		}
	}
}

func agentOf(t *testing.T, covered, header string) (agent, why string) {
	t.Helper()
	signatures, err := messagesig.Parse([]string{"sig1=(" + covered + ")"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return webbotauth.AgentOf(signatures[0], []string{header})
}

func TestThumbprints(t *testing.T) {
	var vectors []struct{ Name, JWK, Thumbprint string }
	load(t, "cf_jwk_thumbprint.json", &vectors)
	for _, x := range vectors {
		key, err := webbotauth.ParseKey([]byte(x.JWK))
		switch {
		case x.Name == "rsa":
			if err == nil || !strings.Contains(err.Error(), "Ed25519") {
				t.Errorf("rsa: want it refused, got %v", err)
			}
		case err != nil || key.Thumbprint() != x.Thumbprint:
			t.Errorf("%s: thumbprint %q, %v, want %q", x.Name, key.Thumbprint(), err, x.Thumbprint)
		}
	}
}
