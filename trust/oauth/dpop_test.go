package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// prover is a client with a key of its own.
type prover struct {
	key *ecdsa.PrivateKey
	jwk map[string]any
}

func newProver(t testing.TB) *prover {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := issuertest.JWK(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return &prover{key, jwk}
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// thumbprint is what a token names the key by (RFC 7638).
func (p *prover) thumbprint() string {
	return hashed(`{"crv":"P-256","kty":"EC","x":"` + p.jwk["x"].(string) + `","y":"` + p.jwk["y"].(string) + `"}`)
}

// bound has a token name the key.
func (p *prover) bound(claims jwt.MapClaims, _ map[string]any) {
	claims["cnf"] = map[string]any{"jkt": p.thumbprint()}
}

// proof makes a proof for a POST; change may alter it.
func (p *prover) proof(t testing.TB, url, token string, change ...change) string {
	t.Helper()
	claims := jwt.MapClaims{"htm": "POST", "htu": url, "iat": time.Now().Unix(), "jti": rand.Text(), "ath": hashed(token)}
	header := map[string]any{"typ": "dpop+jwt", "jwk": maps.Clone(p.jwk)}
	for _, c := range change {
		c(claims, header)
	}
	made := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	maps.Copy(made.Header, header)
	text, err := made.SignedString(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with sends a token by the DPoP scheme.
func with(token string, proofs ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", "DPoP "+token)
		r.Header["Dpop"] = proofs
	}
}

// A token that is bound to a key is worth something to who holds that key, once for
// each proof (RFC 9449, section 4.3).
func TestDPoP(t *testing.T) {
	w := start(t, setting{})
	p, stranger := newProver(t), newProver(t)
	url := w.url + "/mcp"
	token := w.token(t, "/mcp", "notes", p.bound)
	free := w.token(t, "/mcp", "notes")
	now := time.Now()
	metadata := `scope="notes", resource_metadata="` + w.url + wellKnown + `/mcp"`
	algs := `, algs="RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`
	used := p.proof(t, url, token)
	if got := w.tool(t, "whoami", "", with(token, used)); got.status != http.StatusOK {
		t.Fatalf("a proof that holds: %d %s", got.status, got.body)
	}
	for _, test := range []struct {
		name  string
		send  func(*http.Request)
		cause string // "": it holds
	}{
		{"another proof", with(token, p.proof(t, url, token)), ""},
		{"made a little ahead", with(token, p.proof(t, url, token, claim("iat", now.Add(20*time.Second).Unix()))), ""},
		{"URL in other letters, with a query", with(token, p.proof(t, strings.Replace(url, "http", "HTTP", 1)+"?a=b", token)), ""},
		{"the same proof again", with(token, used), "invalid_dpop_proof"},
		{"no proof", with(token), "invalid_dpop_proof"},
		{"two proofs", with(token, p.proof(t, url, token), p.proof(t, url, token)), "invalid_dpop_proof"},
		{"no JWT", with(token, "nonsense"), "invalid_dpop_proof"},
		{"another key", with(token, stranger.proof(t, url, token)), "invalid_dpop_proof"},
		{"the key's name, another's signature", with(token, stranger.proof(t, url, token, header("jwk", p.jwk))), "invalid_dpop_proof"},
		{"another method", with(token, p.proof(t, url, token, claim("htm", "GET"))), "invalid_dpop_proof"},
		{"another path", with(token, p.proof(t, w.url+"/api", token)), "invalid_dpop_proof"},
		{"another host", with(token, p.proof(t, "http://evil.example.com/mcp", token)), "invalid_dpop_proof"},
		{"no URL", with(token, p.proof(t, "", token)), "invalid_dpop_proof"},
		{"another token", with(token, p.proof(t, url, free)), "invalid_dpop_proof"},
		{"no hash of the token", with(token, p.proof(t, url, token, claim("ath", nil))), "invalid_dpop_proof"},
		{"too old", with(token, p.proof(t, url, token, claim("iat", now.Add(-2*time.Minute).Unix()))), "invalid_dpop_proof"},
		{"of the future", with(token, p.proof(t, url, token, claim("iat", now.Add(2*time.Minute).Unix()))), "invalid_dpop_proof"},
		{"no time", with(token, p.proof(t, url, token, claim("iat", nil))), "invalid_dpop_proof"},
		{"no id", with(token, p.proof(t, url, token, claim("jti", nil))), "invalid_dpop_proof"},
		{"a long id", with(token, p.proof(t, url, token, claim("jti", strings.Repeat("x", 257)))), "invalid_dpop_proof"},
		{"another type", with(token, p.proof(t, url, token, header("typ", "JWT"))), "invalid_dpop_proof"},
		{"something critical", with(token, p.proof(t, url, token, header("crit", []string{"b64"}))), "invalid_dpop_proof"},
		{"a private key", with(token, p.proof(t, url, token, func(_ jwt.MapClaims, h map[string]any) { h["jwk"].(map[string]any)["d"] = "AAAA" })), "invalid_dpop_proof"},
		{"no key", with(token, p.proof(t, url, token, header("jwk", nil))), "invalid_dpop_proof"},
		{"a token that is bound to nothing", with(free, p.proof(t, url, free)), "invalid_token"},
		{"a token that is none", with("nonsense", p.proof(t, url, "nonsense")), "invalid_token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := w.tool(t, "whoami", "", test.send)
			if test.cause == "" {
				if got.status != http.StatusOK {
					t.Errorf("want 200, got %d %s %s", got.status, got.challenge, got.body)
				}
				return
			}
			if want := `DPoP error="` + test.cause + `", ` + metadata + algs; got.status != http.StatusUnauthorized || got.challenge != want {
				t.Errorf("want 401 %s\ngot  %d %s", want, got.status, got.challenge)
			}
		})
	}
	// Bound tokens are no bearer tokens, with a proof or without.
	got := w.tool(t, "whoami", token, func(r *http.Request) { r.Header.Set("Dpop", p.proof(t, url, token)) })
	if got.status != http.StatusUnauthorized {
		t.Errorf("sent as a bearer token with a proof: %d", got.status)
	}
	if got := w.tool(t, "whoami", token); got.status != http.StatusUnauthorized || !strings.HasPrefix(got.challenge, `Bearer error="invalid_token"`) {
		t.Errorf("sent as a bearer token: %d %s", got.status, got.challenge)
	}
}

// An endpoint can want all tokens bound, or none, and nonces of its own.
func TestDPoPBindings(t *testing.T) {
	for _, test := range []struct {
		name        string
		binding     oauth.Binding
		bound, free int
	}{
		{"optional", oauth.BindingOptional, 200, 200},
		{"required", oauth.BindingRequired, 200, 401},
		{"refused", oauth.BindingRefused, 401, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, setting{oauth: func(o *oauth.Options) { o.Resources[1].DPoP = test.binding }})
			p := newProver(t)
			token := w.token(t, "/api", "", p.bound)
			if got := w.call(t, "whoami", "", with(token, p.proof(t, w.url+"/api/whoami", token))); got.status != test.bound {
				t.Errorf("a bound token: want %d, got %d %s", test.bound, got.status, got.challenge)
			}
			if got := w.call(t, "whoami", w.token(t, "/api", "")); got.status != test.free {
				t.Errorf("another token: want %d, got %d %s", test.free, got.status, got.challenge)
			}
			none := w.call(t, "whoami", "")
			if scheme, _, _ := strings.Cut(none.challenge, " "); (scheme == "DPoP") != (test.binding == oauth.BindingRequired) {
				t.Errorf("without a token: %s", none.challenge)
			}
			document := w.send(t, w.request(t, http.MethodGet, wellKnown+"/api", "", "")).body
			if got := strings.Contains(document, `"dpop_bound_access_tokens_required":true`); got != (test.binding == oauth.BindingRequired) {
				t.Errorf("metadata: %s", document)
			}
		})
	}
}

// flipped is another letter than this one.
func flipped(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

func TestDPoPNonces(t *testing.T) {
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Resources[1].DPoPNonces = true }})
	p := newProver(t)
	url := w.url + "/api/whoami"
	token := w.token(t, "/api", "", p.bound)
	first := w.call(t, "whoami", "", with(token, p.proof(t, url, token)))
	nonce := first.header.Get("DPoP-Nonce")
	if first.status != http.StatusUnauthorized || !strings.HasPrefix(first.challenge, `DPoP error="use_dpop_nonce"`) || nonce == "" {
		t.Fatalf("without a nonce: %d %s %q", first.status, first.challenge, nonce)
	}
	for name, test := range map[string]struct {
		nonce string
		want  int
	}{
		"the nonce":             {nonce, 200},
		"the nonce once more":   {nonce, 200},
		"one made up":           {"bm9uY2U", 401},
		"one that was changed":  {"B" + nonce[1:], 401},
		"one with another seal": {nonce[:len(nonce)-1] + flipped(nonce[len(nonce)-1]), 401},
		"one too old":           {w.tokens.NonceAt(time.Now().Add(-6 * time.Minute)), 401},
		"one of the future":     {w.tokens.NonceAt(time.Now().Add(time.Hour)), 401},
	} {
		if got := w.call(t, "whoami", "", with(token, p.proof(t, url, token, claim("nonce", test.nonce)))); got.status != test.want {
			t.Errorf("%s: want %d, got %d %s", name, test.want, got.status, got.challenge)
		}
	}
	if got := w.call(t, "whoami", ""); got.header.Get("DPoP-Nonce") == "" {
		t.Error("a request without a token gets no nonce for its first proof")
	}
}

// T32: two instances that share the key and the record take a nonce of each other, and
// a proof once between them.
func TestT32_SharedReplays(t *testing.T) {
	shared, key := oauth.NewMemory(), []byte(strings.Repeat("k", 32))
	issuer := newIssuer(t)
	instance := func() *world {
		return start(t, setting{oauth: func(o *oauth.Options) {
			o.Issuers = []oauth.Issuer{{URL: issuer.URL}}
			o.Instances, o.Replays, o.NonceKey = 2, shared, key
			o.Resources[1].Audiences, o.Resources[1].DPoPNonces = []string{"notes"}, true
		}})
	}
	one, two := instance(), instance()
	p := newProver(t)
	claims := issuer.Claims("alice", "notes", "")
	p.bound(claims, nil)
	token, err := issuer.Token(claims, nil)
	if err != nil {
		t.Fatal(err)
	}
	nonce := one.call(t, "whoami", "").header.Get("DPoP-Nonce")
	id := claim("jti", "the-same")
	send := func(w *world) int {
		return w.call(t, "whoami", "", with(token, p.proof(t, w.url+"/api/whoami", token, claim("nonce", nonce), id))).status
	}
	if got := send(two); got != http.StatusOK {
		t.Errorf("the nonce of another instance: %d", got)
	}
	if got := send(one); got != http.StatusUnauthorized {
		t.Errorf("a proof's id at another instance again: %d", got)
	}
}

// failing is a record that cannot be reached.
type failing struct{}

func (failing) Record(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("the store is down")
}

// T32: where the record of proofs does not answer, nobody can tell.
func TestT32_ReplaysDown(t *testing.T) {
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Replays = failing{} }})
	p := newProver(t)
	token := w.token(t, "/api", "", p.bound)
	if got := w.call(t, "whoami", "", with(token, p.proof(t, w.url+"/api/whoami", token))); got.status != http.StatusServiceUnavailable {
		t.Errorf("want 503, got %d %s", got.status, got.body)
	}
}

// The record of one process: one winner, and each key remembered for its time.
func TestReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := oauth.NewMemory()
		record := func(key string) bool {
			fresh, err := m.Record(t.Context(), key, time.Now().Add(90*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			return fresh
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		winners := 0
		for range 64 {
			all.Go(func() {
				if record("race") {
					mu.Lock()
					winners++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if winners != 1 {
			t.Errorf("want one winner, got %d", winners)
		}
		for range 90 {
			time.Sleep(time.Second)
			if record("race") {
				t.Fatal("a key was forgotten before its time")
			}
		}
		time.Sleep(2 * oauth.ReplaySlot)
		if !record("race") {
			t.Error("a key is remembered long after its time")
		}
	})
}

// T32: nobody fills the record of proofs for others, and it has an end.
func TestT32_ReplaysShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := oauth.NewMemory()
		fill := func(who string) (took int) {
			for i := range oauth.MaxReplays {
				if _, err := m.Record(t.Context(), who+"."+strconv.Itoa(i), time.Now().Add(90*time.Second)); err != nil {
					break
				}
				took++
			}
			return took
		}
		if got := fill("mallory"); got != oauth.MaxShare {
			t.Errorf("want %d proofs of one principal, got %d", oauth.MaxShare, got)
		}
		if fresh, err := m.Record(t.Context(), "alice.1", time.Now().Add(90*time.Second)); err != nil || !fresh {
			t.Errorf("another principal: want a record, got %v, %v", fresh, err)
		}
		total := oauth.MaxShare + 1
		for i := range 5 {
			total += fill("other" + strconv.Itoa(i))
		}
		if total != oauth.MaxReplays {
			t.Errorf("want %d proofs in all, got %d", oauth.MaxReplays, total)
		}
		time.Sleep(90*time.Second + 2*oauth.ReplaySlot)
		if got := fill("mallory"); got != oauth.MaxShare {
			t.Errorf("when all have ended: want %d again, got %d", oauth.MaxShare, got)
		}
	})
}

// T32: the keys that one principal has do not get it another share of the record.
func TestT32_ReplaysByPrincipal(t *testing.T) {
	noted := &notes{}
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Replays = noted }})
	for range 2 {
		p := newProver(t)
		token := w.token(t, "/api", "", p.bound)
		if got := w.call(t, "whoami", "", with(token, p.proof(t, w.url+"/api/whoami", token))); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if len(noted.keys) != 2 || noted.keys[0] == noted.keys[1] {
		t.Fatalf("want two keys, got %q", noted.keys)
	}
	one, _, _ := strings.Cut(noted.keys[0], ".")
	two, _, _ := strings.Cut(noted.keys[1], ".")
	if one != two || one == "" {
		t.Errorf("want one share for both, got %q and %q", one, two)
	}
	for _, key := range noted.keys {
		if len(key) > 100 {
			t.Errorf("a key has %d bytes", len(key))
		}
	}
}

// notes is a record that says what it was told.
type notes struct{ keys []string }

func (n *notes) Record(ctx context.Context, key string, _ time.Time) (bool, error) {
	if _, ok := ctx.Deadline(); !ok {
		return false, errors.New("there is no end to waiting for the record")
	}
	n.keys = append(n.keys, key)
	return true, nil
}

// An application's own check of tokens does not keep a client from learning that its
// proof needs a nonce (RFC 9449, section 9).
func TestDPoPNonceBesideVerify(t *testing.T) {
	p := newProver(t)
	asked := 0
	w := start(t, setting{oauth: func(o *oauth.Options) {
		o.Resources[1].DPoPNonces = true
		o.Verify = func(_ context.Context, token string, _ oauth.Request) (*ambit.Principal, error) {
			if asked++; token != "good" {
				return nil, errors.New("not good")
			}
			return &ambit.Principal{Subject: "bob", Unscoped: true, Claims: map[string]any{"cnf": map[string]any{"jkt": p.thumbprint()}}}, nil
		}
	}})
	send := func(token string, change ...change) answer {
		return w.call(t, "whoami", "", with(token, p.proof(t, w.url+"/api/whoami", token, change...)))
	}
	got := send("good")
	nonce := claim("nonce", got.header.Get("DPoP-Nonce"))
	if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.challenge, `DPoP error="use_dpop_nonce", `) {
		t.Errorf("without a nonce: %d %s", got.status, got.challenge)
	}
	if asked != 1 {
		t.Errorf("the verifier was asked %d times about one request", asked)
	}
	if got := send("good", nonce); got.status != http.StatusOK {
		t.Errorf("with the nonce: %d %s", got.status, got.challenge)
	}
	if got := send("bad", nonce); got.status != http.StatusUnauthorized || !strings.HasPrefix(got.challenge, `DPoP error="invalid_token", `) {
		t.Errorf("a token that does not hold: %d %s", got.status, got.challenge)
	}
	if got := w.call(t, "whoami", "", with("good", "nonsense")); got.status != http.StatusUnauthorized || !strings.HasPrefix(got.challenge, `DPoP error="invalid_token", `) {
		t.Errorf("a proof that is none: %d %s", got.status, got.challenge)
	}
}
