package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/trust/oauth"
)

// change alters what a token says and how it is signed.
type change = func(claims jwt.MapClaims, header map[string]any)

func claim(name string, value any) change {
	return func(claims jwt.MapClaims, _ map[string]any) {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
}

func header(name string, value any) change {
	return func(_ jwt.MapClaims, header map[string]any) { header[name] = value }
}

// Every confusion about what a token is gets the one answer, with the challenge, on
// both surfaces: which it was stands in the log alone.
func TestConfusions(t *testing.T) {
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Issuers[0].TenantClaim = "tenant" }})
	now := time.Now()
	for _, test := range []struct {
		name   string
		change change
		log    string // what the operator reads
	}{
		{"another audience", claim("aud", "https://other.example.com/mcp"), "another audience"},
		{"audience with a slash", func(c jwt.MapClaims, _ map[string]any) { c["aud"] = c["aud"].(string) + "/" }, "another audience"},
		{"only the host as audience", func(c jwt.MapClaims, _ map[string]any) { c["aud"] = w.url }, "another audience"},
		{"no audience", claim("aud", nil), "no audience"},
		{"empty audience", claim("aud", ""), "no audience"},
		{"empty list of audiences", claim("aud", []string{}), "no audience"},
		{"audience that is no text", claim("aud", 7), "no audience"},
		{"another issuer", claim("iss", "https://evil.example.com"), "not one of Options.Issuers"},
		{"issuer with a slash", func(c jwt.MapClaims, _ map[string]any) { c["iss"] = c["iss"].(string) + "/" }, "not one of Options.Issuers"},
		{"no issuer", claim("iss", nil), "not one of Options.Issuers"},
		{"expired", claim("exp", now.Add(-time.Second).Unix()), "has expired"},
		{"no expiry", claim("exp", nil), "does not expire"},
		{"expiry that is no number", claim("exp", "tomorrow"), "exp is no time"},
		{"not yet", claim("nbf", now.Add(time.Hour).Unix()), "time to come"},
		{"of the future", claim("iat", now.Add(time.Hour).Unix()), "time to come"},
		{"ID token by typ", header("typ", "id_token+jwt"), "no access token"},
		{"plain JWT", header("typ", "JWT"), "not at+jwt"},
		{"no typ", header("typ", nil), "not at+jwt"},
		{"a DPoP proof for a token", header("typ", "dpop+jwt"), "no access token"},
		{"typ that is no text", header("typ", 1), "should be a text"},
		{"unknown key", header("kid", "nobody"), "no such key"},
		{"key id that is no text", header("kid", 5), "should be a text"},
		{"something critical", header("crit", []string{"exp"}), "critical"},
		{"no subject", claim("sub", ""), "without subject"},
		{"a tenant, where there are none", claim("tenant", "acme"), `may not speak for the tenant \"acme\"`},
		{"a tenant that is no text", claim("tenant", 7), "tenant is no text"},
		{"scope that is no text", claim("scope", 12), "no list of scopes"},
		{"bound in an unknown way", claim("cnf", map[string]any{"kid": "x"}), "not known here"},
		{"bound to nothing", claim("cnf", map[string]any{}), "malformed"},
		{"binding that is no object", claim("cnf", "x"), "malformed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(w.log.String())
			w.refused(t, w.token(t, "/mcp", "notes", test.change), w.token(t, "/api", "", test.change))
			if log := w.log.String()[before:]; strings.Count(log, test.log) != 2 {
				t.Errorf("want the reason %q for each of the two, got\n%s", test.log, log)
			}
		})
	}
}

// refused checks that tokens are invalid on both surfaces.
func (w *world) refused(t *testing.T, forMCP, forAPI string) {
	t.Helper()
	for path, got := range map[string]answer{"/mcp": w.tool(t, "whoami", forMCP), "/api": w.call(t, "whoami", forAPI)} {
		scope := ""
		if path == "/mcp" {
			scope = `scope="notes", `
		}
		want := `Bearer error="invalid_token", ` + scope + `resource_metadata="` + w.url + wellKnown + path + `"`
		if got.status != http.StatusUnauthorized || got.challenge != want {
			t.Errorf("%s: want 401 %s\ngot %d %s\n%s", path, want, got.status, got.challenge, got.body)
		}
		if got := got.header.Get("Access-Control-Expose-Headers"); got != "WWW-Authenticate" {
			t.Errorf("%s: Access-Control-Expose-Headers is %q", path, got)
		}
	}
}

// What only looks signed, or is signed by somebody else.
func TestForgeries(t *testing.T) {
	w := start(t, setting{})
	sign := func(path string, method jwt.SigningMethod, key any, header map[string]any) string {
		token := jwt.NewWithClaims(method, w.issuer.Claims("alice", w.url+path, "notes"))
		token.Header["typ"], token.Header["kid"] = "at+jwt", "key-1"
		for name, value := range header {
			token.Header[name] = value
		}
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&stranger.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for name, forge := range map[string]func(path string) string{
		"no algorithm": func(path string) string {
			return sign(path, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil)
		},
		"a public key as a secret": func(path string) string { return sign(path, jwt.SigningMethodHS256, public, nil) },
		"another key under the id": func(path string) string { return sign(path, jwt.SigningMethodES256, stranger, nil) },
		"a key in the header": func(path string) string {
			return sign(path, jwt.SigningMethodES256, stranger, map[string]any{"jwk": map[string]any{"kty": "EC"}, "jku": w.issuer.URL + "/keys"})
		},
		"another algorithm in the header": func(path string) string {
			parts := strings.Split(w.token(t, path, "notes"), ".")
			forged := strings.Split(sign(path, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil), ".")
			return forged[0] + "." + parts[1] + "." + parts[2]
		},
		"changed claims": func(path string) string {
			parts := strings.Split(w.token(t, path, "notes"), ".")
			other := strings.Split(w.token(t, path, "notes admin"), ".")
			return parts[0] + "." + other[1] + "." + parts[2]
		},
		"no signature": func(path string) string {
			token := w.token(t, path, "notes")
			return token[:strings.LastIndex(token, ".")+1]
		},
	} {
		t.Run(name, func(t *testing.T) { w.refused(t, forge("/mcp"), forge("/api")) })
	}
	if got := w.call(t, "whoami", w.token(t, "/api", "")); got.status != http.StatusOK {
		t.Errorf("a token that holds: %d %s", got.status, got.body)
	}
}

// An issuer that follows no profile is taken at its word only as far as its ID tokens
// can be told apart.
func TestAcceptJWT(t *testing.T) {
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Issuers[0].AcceptJWT = true }})
	plain := header("typ", "JWT")
	both := func(a, b change) change {
		return func(c jwt.MapClaims, h map[string]any) { a(c, h); b(c, h) }
	}
	for _, test := range []struct {
		name   string
		change change
		want   int
	}{
		{"at+jwt", header("typ", "at+jwt"), http.StatusOK},
		{"at+jwt in full", header("typ", "application/at+JWT"), http.StatusOK},
		{"JWT", plain, http.StatusOK},
		{"no typ", header("typ", nil), http.StatusOK},
		{"another type", header("typ", "logout+jwt"), http.StatusUnauthorized},
		{"ID token by nonce", both(plain, claim("nonce", "n")), http.StatusUnauthorized},
		{"ID token by at_hash", both(plain, claim("at_hash", "h")), http.StatusUnauthorized},
		{"ID token by its own word", both(plain, claim("typ", "ID")), http.StatusUnauthorized},
		{"ID token by use", both(plain, claim("token_use", "id")), http.StatusUnauthorized},
		{"refresh token", both(plain, claim("typ", "Refresh")), http.StatusUnauthorized},
		{"logout token", both(plain, claim("events", map[string]any{})), http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := w.call(t, "whoami", w.token(t, "/api", "", test.change)); got.status != test.want {
				t.Errorf("want %d, got %d %s", test.want, got.status, got.body)
			}
		})
	}
}

// The answers to how a token is sent (RFC 6750, section 3.1).
func TestChallenges(t *testing.T) {
	w := start(t, setting{})
	good := w.token(t, "/mcp", "notes")
	metadata := `resource_metadata="` + w.url + wellKnown + `/mcp"`
	authorization := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	query := func(query string) func(*http.Request) { return func(r *http.Request) { r.URL.RawQuery = query } }
	for _, test := range []struct {
		name   string
		token  string
		change func(*http.Request)
		status int
		want   string
	}{
		{"no token", "", nil, 401, `Bearer scope="notes", ` + metadata},
		{"another scheme", "", authorization("Basic YTpi"), 401, `Bearer scope="notes", ` + metadata},
		{"not a token of the issuer", "nonsense", nil, 401, `Bearer error="invalid_token", scope="notes", ` + metadata},
		{"scheme in other letters", "", authorization("bEARER " + good), 200, ""},
		{"two headers", "", authorization("Bearer "+good, "Bearer "+good), 400, `Bearer error="invalid_request", ` + metadata},
		{"two tokens in one header", "", authorization("Bearer " + good + ", Bearer " + good), 400, `Bearer error="invalid_request", ` + metadata},
		{"empty", "", authorization("Bearer "), 400, `Bearer error="invalid_request", ` + metadata},
		{"characters that no token has", "", authorization("Bearer a\"b"), 400, `Bearer error="invalid_request", ` + metadata},
		{"token in the query", "", query("access_token=" + good), 400, `Bearer error="invalid_request", ` + metadata},
		{"in header and query", good, query("a=b&access_token=x"), 400, `Bearer error="invalid_request", ` + metadata},
		{"in the query, escaped", good, query("acc%65ss_token=x"), 400, `Bearer error="invalid_request", ` + metadata},
		{"scopes of the endpoint", w.token(t, "/mcp", "other"), nil, 403, `Bearer error="insufficient_scope", scope="notes", ` + metadata},
		{"an empty list of scopes", w.token(t, "/mcp", ""), nil, 403, `Bearer error="insufficient_scope", scope="notes", ` + metadata},
	} {
		t.Run(test.name, func(t *testing.T) {
			var changes []func(*http.Request)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			got := w.tool(t, "whoami", test.token, changes...)
			if got.status != test.status || got.challenge != test.want {
				t.Errorf("want %d %s\ngot  %d %s\n%s", test.status, test.want, got.status, got.challenge, got.body)
			}
		})
	}
}

// T06: scopes of a capability and of the endpoint come in one challenge, a broader one
// counts where configuration says so, and a token without scopes has an empty list.
func TestT06_StepUp(t *testing.T) {
	w := start(t, setting{implied: map[string][]string{"admin": {"write"}, "write": {"notes", "notes:read", "notes:write"}}})
	metadata := `resource_metadata="` + w.url + wellKnown + `/mcp"`
	stepUp := `Bearer error="insufficient_scope", scope="notes notes:read notes:write", ` + metadata
	for _, test := range []struct {
		name, tool, scopes string
		status             int
		want               string
	}{
		{"enough", "notes_write", "notes notes:read notes:write", 200, ""},
		{"one missing", "notes_write", "notes notes:read", 403, stepUp},
		{"none of the tool's", "notes_write", "notes", 403, stepUp},
		{"a broader one", "notes_write", "write", 200, ""},
		{"one broader than that", "notes_write", "admin", 200, ""},
		{"a prefix is not broader", "notes_write", "notes:", 403, `Bearer error="insufficient_scope", scope="notes", ` + metadata},
		{"permission comes first", "notes_purge", "notes", 200, ""}, // forbidden, in the result
	} {
		t.Run(test.name, func(t *testing.T) {
			got := w.tool(t, test.tool, w.token(t, "/mcp", test.scopes))
			if got.status != test.status || got.challenge != test.want {
				t.Errorf("want %d %s\ngot  %d %s\n%s", test.status, test.want, got.status, got.challenge, got.body)
			}
		})
	}
	if got := w.call(t, "notes/write", w.token(t, "/api", "", claim("scope", nil))); got.status != http.StatusForbidden {
		t.Errorf("a token without the claim: %d %s", got.status, got.body)
	}
}

// A key that somebody took for another algorithm does not get used for it.
func TestAlgorithms(t *testing.T) {
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Issuers[0].Algorithms = []string{"RS256"} }})
	w.refused(t, w.token(t, "/mcp", "notes"), w.token(t, "/api", ""))
	if !strings.Contains(w.log.String(), "does not sign with") {
		t.Error("the log does not say why")
	}
}
