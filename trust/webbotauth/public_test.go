package webbotauth_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// These tests are named after failures of others that were reported in public:
// the project, the number of its report, and what went wrong.

// A signature that covers nothing, or no target, was taken for a good one, so
// that it could be sent to anybody.
func TestPublic_CloudflareWebBotAuth114_NoCoveredTarget(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	agent := messagesig.Component{Name: "signature-agent", Key: "sig1"}
	for _, list := range [][]messagesig.Component{
		nil,
		{agent},
		{{Name: "@method"}, {Name: "@path"}, {Name: "@query"}, {Name: "@scheme"}, {Name: "@request-target"}, agent},
		{{Name: "host-name"}, agent},
	} {
		r := outgoing(t, "GET", "https://app.test/api/x", "")
		r.Header.Set("Host-Name", "app.test")
		if err := signer(t, key, ambit.AgentRequest).SignWith(r, list...); err != nil {
			t.Fatal(err)
		}
		at, body := arrive(t, r)
		if got := judge(t, v, at, body); got != (verdict{"", "none", "invalid/target-not-covered"}) {
			t.Errorf("%v: %+v", list, got)
		}
	}
}

// Asked for the dictionary, a signer sent it and signed the old form. What is
// signed is the whole field then, which holds; and our own signer signs its
// member.
func TestPublic_CloudflareWebBotAuth126_OldFormInsteadOfDictionary(t *testing.T) {
	key := webbotauth.GenerateKey()
	r := outgoing(t, "GET", "https://app.test/api/x", "")
	if err := signer(t, key, ambit.AgentIdentified).SignWith(r, messagesig.Component{Name: "@authority"}, messagesig.Component{Name: "signature-agent"}); err != nil {
		t.Fatal(err)
	}
	at, body := arrive(t, r)
	if got := judge(t, verifier(t, key), at, body); got != (verdict{agentID, "identity", "verified"}) {
		t.Errorf("dictionary covered as a whole: %+v", got)
	}
	r = outgoing(t, "GET", "https://app.test/api/x", "")
	if err := signer(t, key, ambit.AgentIdentified).Sign(r); err != nil {
		t.Fatal(err)
	}
	if got := r.Header.Get("Signature-Input"); !strings.HasPrefix(got, `sig1=("@authority" "signature-agent";key="sig1");`) {
		t.Errorf("signed: %s", got)
	}
}

// The documented form was that of another draft, so that signers and verifiers
// did not meet. Here both are read, with one agent for both.
func TestPublic_CloudflareDocs30968_StringAgainstDictionary(t *testing.T) {
	key := webbotauth.GenerateKey()
	now := time.Now()
	for _, test := range []struct {
		header    string
		component messagesig.Component
	}{
		{`"https://agent.test"`, messagesig.Component{Name: "signature-agent"}},
		{`sig1="https://agent.test"`, messagesig.Component{Name: "signature-agent", Key: "sig1"}},
		{`sig1="https://agent.test";type=directory`, messagesig.Component{Name: "signature-agent", Key: "sig1"}},
		{`sig1="https://agent.test/.well-known/http-message-signatures-directory";type=jwks_uri`, messagesig.Component{Name: "signature-agent", Key: "sig1"}},
		{`sig1="https://agent.test/.well-known/http-message-signatures-directory"`, messagesig.Component{Name: "signature-agent", Key: "sig1"}},
	} {
		r := outgoing(t, "GET", "https://app.test/api/x", "")
		r.Header.Set("Signature-Agent", test.header)
		signBy(t, key, r, "sig1", []messagesig.Component{{Name: "@authority"}, test.component}, messagesig.Params{
			Created: now, Expires: now.Add(time.Minute), KeyID: key.Public().Thumbprint(), Tag: webbotauth.Tag,
		})
		at, body := arrive(t, r)
		if got := judge(t, verifier(t, key), at, body); got != (verdict{agentID, "identity", "verified"}) {
			t.Errorf("%s: %+v", test.header, got)
		}
	}
}

// signBy signs with what the signer of this package would not write.
func signBy(t *testing.T, key webbotauth.PrivateKey, r *http.Request, label string, list []messagesig.Component, p messagesig.Params) {
	t.Helper()
	message := &messagesig.Message{Method: r.Method, Scheme: r.URL.Scheme, Authority: r.URL.Host, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header}
	input, value, err := messagesig.Sign(message, label, list, p, key.Sign)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Signature-Input", input)
	r.Header.Set("Signature", value)
}

// A verifier left the line of @signature-params out of what is signed, so that
// its parameters could be changed; and it knew one label and one order of
// parameters only.
func TestPublic_VisaTrustedAgentProtocol21_SignatureParams(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	now := time.Now()
	input := func(order ...string) string {
		values := map[string]string{
			"created": fmt.Sprint(now.Unix()), "expires": fmt.Sprint(now.Add(time.Minute).Unix()),
			"keyid": `"` + key.Public().Thumbprint() + `"`, "tag": `"web-bot-auth"`, "alg": `"ed25519"`,
		}
		text := `("@authority" "signature-agent";key="agent-2")`
		for _, name := range order {
			text += ";" + name + "=" + values[name]
		}
		return text
	}
	sign := func(params string, covered ...string) *http.Request {
		r := outgoing(t, "GET", "https://app.test/api/x", "")
		base := `"@authority": app.test` + "\n" + `"signature-agent";key="agent-2": "https://agent.test"` + strings.Join(covered, "")
		r.Header.Set("Signature-Agent", `agent-2="https://agent.test"`)
		r.Header.Set("Signature-Input", "agent-2="+params)
		r.Header.Set("Signature", "agent-2=:"+base64Of(key.Sign([]byte(base)))+":")
		return r
	}
	for _, order := range [][]string{
		{"created", "expires", "keyid", "tag"},
		{"tag", "keyid", "alg", "expires", "created"},
	} {
		params := input(order...)
		at, body := arrive(t, sign(params, "\n\"@signature-params\": "+params))
		if got := judge(t, v, at, body); got != (verdict{agentID, "identity", "verified"}) {
			t.Errorf("%v: %+v", order, got)
		}
		at, body = arrive(t, sign(params))
		if got := judge(t, v, at, body); got.Outcome != "invalid/bad-signature" {
			t.Errorf("without @signature-params: %+v", got)
		}
		at, body = arrive(t, sign(params, "\n\"@signature-params\": "+params))
		at.Header.Set("Signature-Input", strings.Replace(at.Header.Get("Signature-Input"), fmt.Sprint(now.Add(time.Minute).Unix()), fmt.Sprint(now.Add(2*time.Minute).Unix()), 1))
		if got := judge(t, v, at, body); got.Outcome != "invalid/bad-signature" {
			t.Errorf("with another end: %+v", got)
		}
	}
}

// Who serves an allowed agent's key set cannot speak for another agent, and no
// key is an identity by itself.
func TestKeyOfAnotherAgent(t *testing.T) {
	mine, theirs := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	v := verifier(t, mine, func(o *webbotauth.Options) {
		o.Agents = append(o.Agents, webbotauth.Agent{URL: "https://other.test", Keys: []webbotauth.Key{theirs.Public()}})
	})
	r := outgoing(t, "GET", "https://app.test/api/x", "")
	if err := signer(t, theirs, ambit.AgentRequest).Sign(r); err != nil { // as agent.test
		t.Fatal(err)
	}
	at, body := arrive(t, r)
	if diff := cmp.Diff(verdict{"", "none", "unverified/key-unknown"}, judge(t, v, at, body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
