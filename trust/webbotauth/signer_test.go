package webbotauth_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func TestNewSignerRefuses(t *testing.T) {
	key := webbotauth.GenerateKey()
	for _, test := range []struct {
		want    string
		options webbotauth.SignerOptions
	}{
		{"zero PrivateKey", webbotauth.SignerOptions{Agent: agentURL}},
		{"Agent", webbotauth.SignerOptions{Key: key, Agent: "http://agent.test"}},
		{"Agent", webbotauth.SignerOptions{Key: key}},
		{"Level", webbotauth.SignerOptions{Key: key, Agent: agentURL, Level: 9}},
		{"Lifetime", webbotauth.SignerOptions{Key: key, Agent: agentURL, Lifetime: time.Hour}},
		{"Lifetime", webbotauth.SignerOptions{Key: key, Agent: agentURL, Lifetime: time.Millisecond}},
		{"MaxBody", webbotauth.SignerOptions{Key: key, Agent: agentURL, MaxBody: -1}},
	} {
		if _, err := webbotauth.NewSigner(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, err)
		}
	}
}

// The headers that are written have the newest draft's form.
func TestWhatIsSigned(t *testing.T) {
	key := webbotauth.GenerateKey()
	s := signer(t, key, ambit.AgentRequest)
	s.At(time.Unix(1_800_000_000, 0))
	r := outgoing(t, "POST", "https://app.test/api/x?y", "{}")
	r.Header.Set("Authorization", "Bearer x")
	if err := s.Sign(r); err != nil {
		t.Fatal(err)
	}
	r.Header.Del("Signature")
	want := http.Header{
		"Authorization":   {"Bearer x"},
		"Content-Digest":  {messagesig.Digest([]byte("{}"))},
		"Signature-Agent": {`sig1="https://agent.test"`},
		"Signature-Input": {`sig1=("@method" "@authority" "@path" "@query" "content-digest" "authorization" "signature-agent";key="sig1");` +
			`created=1800000000;expires=1800000060;keyid="` + key.Public().Thumbprint() + `";alg="ed25519";tag="web-bot-auth"`},
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" || r.ContentLength != 2 {
		t.Errorf("body %q of %d, %v", body, r.ContentLength, err)
	}
}

type failing struct{ io.Reader }

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }
func (failing) Close() error             { return nil }

func TestSignRefuses(t *testing.T) {
	s, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: webbotauth.GenerateKey(), Agent: agentURL, MaxBody: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		request func(r *http.Request)
	}{
		{"signed already", func(r *http.Request) { r.Header.Set("Signature", "x") }},
		{"large body", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("1234")) }},
		{"broken body", func(r *http.Request) { r.Body = failing{} }},
		{"no host", func(r *http.Request) { r.Host, r.URL.Host = "", "" }},
		{"too much to cover", func(r *http.Request) {
			for c := 'a'; c < 'z'; c++ {
				r.Header.Set("Ambit-"+string(c), "x")
			}
		}},
		{"line break in a header", func(r *http.Request) { r.Header.Set("Ambit-X", "a\r\nb") }},
	} {
		r := outgoing(t, "POST", "https://app.test/", "")
		test.request(r)
		before := r.Header.Get("Signature")
		if err := s.Sign(r); err == nil || r.Header.Get("Signature") != before {
			t.Errorf("%s: %v, %v", test.name, err, r.Header)
		}
	}
}

// A client with the transport is believed by the server, also where it is sent on
// and where the body is known as a stream only.
func TestTransport(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key, func(o *webbotauth.Options) { o.PublicURL = "" })
	server, found := serve(t, v)
	redirect := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, server.URL+"/api/y", http.StatusTemporaryRedirect)
	}))
	defer redirect.Close()
	client := &http.Client{Transport: signer(t, key, ambit.AgentOnce).Transport(nil)}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	r := outgoing(t, "POST", server.URL+"/api/x", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("one"), strings.NewReader("two")))
	again := outgoing(t, "POST", redirect.URL, "{}")
	for _, r := range []*http.Request{r, again} {
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if diff := cmp.Diff(verdict{agentID, "once", "verified"}, (<-found).verdict); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.URL, diff)
		}
		if len(r.Header) != 0 {
			t.Errorf("the caller's request was changed: %v", r.Header)
		}
	}
	closed := false
	r = outgoing(t, "POST", server.URL, "")
	r.Header.Set("Ambit-X", "a\nb")
	r.Body = closing{&closed}
	if _, err := client.Transport.RoundTrip(r); err == nil || !closed {
		t.Errorf("a request that cannot be signed: %v, body closed %v", err, closed)
	}
}

type closing struct{ closed *bool }

func (c closing) Read([]byte) (int, error) { return 0, io.EOF }
func (c closing) Close() error             { *c.closed = true; return nil }

// What the target of a request is, by its Host and the public URL.
func TestTarget(t *testing.T) {
	key := webbotauth.GenerateKey()
	for _, test := range []struct {
		public, signedFor, host string
		want                    string
	}{
		{"https://app.test", "https://app.test/x", "app.test", "once"},
		{"https://app.test", "https://app.test/x", "APP.test:443", "once"},
		{"https://app.test", "https://app.test/x", "127.0.0.1:8080", "once"}, // a proxy on this machine
		{"https://app.test", "https://app.test/x", "[::1]:8080", "once"},
		{"https://app.test", "https://app.test/x", "localhost", "once"},
		{"https://app.test", "https://app.test/x", "b.app.test", "none"},
		{"https://app.test", "https://b.app.test/x", "b.app.test", "once"},
		{"https://app.test", "https://b.app.test/x", "app.test", "none"},
		{"https://app.test:8443", "https://app.test:8443/x", "app.test:8443", "once"},
		{"https://app.test:8443", "https://app.test/x", "app.test:8443", "none"},
		{"", "http://127.0.0.1:8080/x", "127.0.0.1:8080", "once"},
	} {
		v := verifier(t, key, func(o *webbotauth.Options) { o.PublicURL = test.public })
		r := outgoing(t, "GET", test.signedFor, "")
		if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-Host", "app.test")
		r.Header.Set("Forwarded", "host=app.test;proto=https")
		at, body := arrive(t, r)
		at.Host = test.host
		if got := judge(t, v, at, body); got.Level != test.want {
			t.Errorf("%s, signed for %s, Host %s: %+v, want %s", test.public, test.signedFor, test.host, got, test.want)
		}
	}
}

// What a handler on the way has made of the URL is not what was signed.
func TestTargetBehindStripPrefix(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	r := outgoing(t, "GET", "https://app.test/prefix/x?y=1", "")
	if err := signer(t, key, ambit.AgentRequest).Sign(r); err != nil {
		t.Fatal(err)
	}
	at, body := arrive(t, r)
	http.StripPrefix("/prefix", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := judge(t, v, r, body); got.Level != "request" || r.URL.Path != "/x" {
			t.Errorf("%s: %+v", r.URL.Path, got)
		}
	})).ServeHTTP(httptest.NewRecorder(), at)
}

// A signature that is asked for by Accept-Signature is one that will do.
func TestAcceptSignatureAsksForWhatWillDo(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	for _, test := range []struct {
		level ambit.AgentLevel
		body  string
		want  string
	}{
		{ambit.AgentIdentified, "", `sig1=("@authority" "signature-agent";key="sig1");created;expires;tag="web-bot-auth"`},
		{ambit.AgentRequest, "{}", `sig1=("@method" "@target-uri" "content-digest" "authorization" "mcp-method" "signature-agent";key="sig1");created;expires;tag="web-bot-auth"`},
		{ambit.AgentOnce, "", `sig1=("@method" "@target-uri" "authorization" "mcp-method" "signature-agent";key="sig1");created;expires;nonce="NONCE";tag="web-bot-auth"`},
	} {
		r := outgoing(t, "POST", "https://app.test/mcp", test.body)
		r.Header.Set("Authorization", "Bearer x")
		r.Header.Set("Mcp-Method", "tools/call")
		at, _ := arrive(t, r)
		accept := v.AcceptSignature(at, test.level)
		wishes, err := messagesig.Parse([]string{accept}, nil)
		if err != nil || len(wishes) != 1 || wishes[0].Fault() != nil {
			t.Fatalf("%s: %v", accept, err)
		}
		nonce, _ := wishes[0].Text("nonce")
		got := accept
		if nonce != "" {
			got = strings.Replace(accept, nonce, "NONCE", 1)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.level, diff)
		}
		if test.level == ambit.AgentOnce && len(nonce) < 16 {
			t.Errorf("nonce %q", nonce)
		}
	}
	if got := v.AcceptSignature(outgoing(t, "GET", "https://app.test", ""), ambit.AgentNone); got != "" {
		t.Errorf("for no level: %s", got)
	}
}
