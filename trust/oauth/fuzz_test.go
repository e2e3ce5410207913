package oauth_test

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

var (
	refusal = &ambit.Error{Code: ambit.CodeUnauthenticated}
	quiet   = slog.New(slog.DiscardHandler)
)

// fuzzed is an authenticator whose issuer answers without a network.
func fuzzed(f *testing.F, change func(*oauth.Options)) (*oauth.Authenticator, *issuertest.Issuer) {
	f.Helper()
	issuer, err := issuertest.Unserved("https://login.example.com")
	if err != nil {
		f.Fatal(err)
	}
	o := oauth.Options{
		Resources: []oauth.Resource{{URL: resourceURL, Audiences: []string{resourceURL}}},
		Issuers:   []oauth.Issuer{{URL: issuer.URL}},
	}
	if change != nil {
		change(&o)
	}
	a, err := oauth.New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(a.Close)
	a.SetTransport(&wire{issuer: issuer})
	return a, issuer
}

// FuzzAuthorization reads any header and query: what comes out is one well-formed token
// or none.
func FuzzAuthorization(f *testing.F) {
	for _, header := range []string{"Bearer abc", "bearer  a.b.c ", "DPoP abc==", "Bearer", "Bearer a, Bearer b", "Basic YTpi", "", "Bearer \x00"} {
		f.Add(header, "")
	}
	f.Add("Bearer a", "access_token=b")
	f.Add("", "x=%zz&access_token")
	f.Fuzz(func(t *testing.T, header, query string) {
		token, _, refused := oauth.CredentialOf(header, query)
		if refused && token != "" {
			t.Errorf("refused, and %q", token)
		}
		if strings.ContainsAny(token, " ,\"\\\r\n\x00") {
			t.Errorf("token %q", token)
		}
		if values, err := url.ParseQuery(query); err == nil && values.Has("access_token") && !refused {
			t.Errorf("the query %q was let through", query)
		}
	})
}

// FuzzToken sends anything for a token: nothing panics, and nothing is valid but what
// the issuer signed.
func FuzzToken(f *testing.F) {
	a, issuer := fuzzed(f, nil)
	good, err := issuer.Token(issuer.Claims("alice", resourceURL, "a"), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, parts := range [][3]string{
		{`{"alg":"none","typ":"at+jwt"}`, `{"iss":"https://login.example.com"}`, ""},
		{`{"alg":"ES256","typ":"at+jwt","kid":"key-1"}`, `{"iss":"https://login.example.com","aud":["` + resourceURL + `"],"exp":1e300}`, "x"},
		{`{"alg":"ES256","typ":"at+jwt","kid":{}}`, `{"iss":"https://login.example.com","aud":"` + resourceURL + `","exp":4102444800,"cnf":{"jkt":7}}`, "x"},
		{`{"alg":{},"crit":1}`, `[]`, ""},
		{`null`, `null`, ""},
	} {
		encode := base64.RawURLEncoding.EncodeToString
		f.Add(encode([]byte(parts[0])) + "." + encode([]byte(parts[1])) + "." + encode([]byte(parts[2])))
	}
	f.Fuzz(func(t *testing.T, token string) {
		r := httptest.NewRequest(http.MethodPost, resourceURL, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		identity, err := a.Authenticate(r)
		if identity != nil && strings.Trim(token, " ") != good {
			t.Errorf("%q was taken for %v (%v)", token, identity.Principal, err)
		}
		a.ChallengeFor(http.Header{}, r, refusal)
	})
}

// FuzzProof sends anything for a DPoP proof.
func FuzzProof(f *testing.F) {
	a, issuer := fuzzed(f, nil)
	p := newProver(f)
	claims := issuer.Claims("alice", resourceURL, "a")
	claims["exp"] = time.Now().Add(24 * time.Hour).Unix()
	p.bound(claims, nil)
	token, err := issuer.Token(claims, nil)
	if err != nil {
		f.Fatal(err)
	}
	good := p.proof(f, resourceURL, token)
	f.Add(good)
	f.Add(p.proof(f, "::", token, header("jwk", map[string]any{"kty": "RSA", "n": "AQAB", "e": "AQAB"})))
	f.Add(p.proof(f, resourceURL, token, header("jwk", []int{1}), claim("iat", "x")))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, proof string) {
		r := httptest.NewRequest(http.MethodPost, resourceURL, nil)
		r.Header.Set("Authorization", "DPoP "+token)
		r.Header["Dpop"] = []string{proof}
		if identity, _ := a.Authenticate(r); identity != nil && proof != good {
			t.Errorf("%q was taken for a proof", proof)
		}
		a.ChallengeFor(http.Header{}, r, refusal)
	})
}

// FuzzAnswers has an issuer answer anything, to every question.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		`{"keys":[{"kty":"EC","crv":"P-256","x":"","y":""}]}`, `{"keys":[{"kty":"RSA","n":"","e":""}]}`, `{"keys":[{"kty":"OKP","crv":"X25519","x":"AAAA"}]}`,
		`{"issuer":"https://login.example.com","jwks_uri":"/","introspection_endpoint":"http://127.0.0.1/"}`,
		`{"active":true,"aud":"` + resourceURL + `","sub":"a","exp":-1}`, `{"active":true,"aud":[1]}`, `[]`, ``, `{"active":true,"cnf":{}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, change := range []func(*oauth.Options){nil, introspecting} {
			issuer, err := issuertest.Unserved("https://login.example.com")
			if err != nil {
				t.Fatal(err)
			}
			o := oauth.Options{
				Resources: []oauth.Resource{{URL: resourceURL, Audiences: []string{resourceURL}}},
				Issuers:   []oauth.Issuer{{URL: issuer.URL}},
				Logger:    quiet,
			}
			if change != nil {
				change(&o)
			}
			a, err := oauth.New(o)
			if err != nil {
				t.Fatal(err)
			}
			a.SetTransport(&wire{other: func(*http.Request) (string, bool) { return body, true }})
			token, err := issuer.Token(issuer.Claims("alice", resourceURL, ""), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, resourceURL, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			if identity, err := a.Authenticate(r); identity != nil && (change == nil || identity.Principal.Subject == "") {
				t.Errorf("%v %v", identity.Principal, err)
			}
			a.Close()
		}
	})
}
