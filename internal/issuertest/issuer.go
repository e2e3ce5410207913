// Package issuertest is an OAuth 2.0 authorization server for tests: metadata, keys,
// the authorization code with PKCE, introspection and token exchange. Whoever asks
// gets what was asked for, without a login. Its tokens can be made to order, revoked,
// and signed by another key from now on; and it can be killed and started again at
// the same address.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The client that an [Issuer] knows, beside any that has no secret.
const (
	ClientID     = "notes-server"
	ClientSecret = "not much of a secret"
)

// Issuer is the server. It is safe for concurrent use.
type Issuer struct {
	// URL is its identifier, and where it is reached.
	URL string

	mux *http.ServeMux

	mu      sync.Mutex
	keys    []key // the last one signs
	made    int
	server  *http.Server
	ended   chan struct{}
	hits    map[string]int
	codes   map[string]code
	revoked map[string]bool
}

// key is a signing key under its id.
type key struct {
	id     string
	signer crypto.Signer
	method jwt.SigningMethod
}

// New starts an issuer on a free port of this machine.
func New() (*Issuer, error) {
	i, err := Unserved("")
	if err != nil {
		return nil, err
	}
	return i, i.listen("127.0.0.1:0")
}

// Unserved returns an issuer of this name that is not reached by a network, but
// by [Issuer.ServeHTTP] alone.
func Unserved(url string) (*Issuer, error) {
	i := &Issuer{URL: url, mux: http.NewServeMux(), hits: map[string]int{}, codes: map[string]code{}, revoked: map[string]bool{}}
	i.mux.HandleFunc("GET /.well-known/oauth-authorization-server", i.metadata)
	i.mux.HandleFunc("GET /keys", i.publish)
	i.mux.HandleFunc("GET /authorize", i.authorize)
	i.mux.HandleFunc("POST /token", i.token)
	i.mux.HandleFunc("POST /introspect", i.introspect)
	return i, i.Rotate()
}

// ServeHTTP answers one request.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.hits[r.URL.Path]++
	i.mu.Unlock()
	i.mux.ServeHTTP(w, r)
}

func (i *Issuer) listen(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server, ended := &http.Server{Handler: i, ReadHeaderTimeout: time.Hour}, make(chan struct{})
	i.mu.Lock()
	i.URL, i.server, i.ended = "http://"+listener.Addr().String(), server, ended
	i.mu.Unlock()
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // until it is closed
	}()
	return nil
}

// Close kills the issuer. Its keys and what it has given out stay.
func (i *Issuer) Close() {
	i.mu.Lock()
	server, ended := i.server, i.ended
	i.mu.Unlock()
	_ = server.Close()
	<-ended
}

// Restart starts a closed issuer again, where it was.
func (i *Issuer) Restart() error { return i.listen(strings.TrimPrefix(i.URL, "http://")) }

// Hits returns how often a path was asked for.
func (i *Issuer) Hits(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.hits[path]
}

// Rotate makes a new key, which signs from now on. Those before are published still.
func (i *Issuer) Rotate() error {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	i.SignWith(signer, jwt.SigningMethodES256)
	return nil
}

// SignWith has tokens signed with a key from now on.
func (i *Issuer) SignWith(signer crypto.Signer, method jwt.SigningMethod) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.made++
	i.keys = append(i.keys, key{"key-" + strconv.Itoa(i.made), signer, method})
}

// Retire publishes only the key that signs.
func (i *Issuer) Retire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = i.keys[len(i.keys)-1:]
}

// Revoke has introspection say that a token does not hold.
func (i *Issuer) Revoke(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked[token] = true
}

// Claims returns the claims of an access token for an audience, with scopes, that
// holds for an hour. Tests change what they are about.
func (i *Issuer) Claims(subject, audience, scopes string) jwt.MapClaims {
	now := time.Now()
	return jwt.MapClaims{
		"iss": i.URL, "sub": subject, "aud": audience, "client_id": "the-client", "scope": scopes,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": rand.Text(),
	}
}

// Token signs an access token (RFC 9068). Members of header replace those that it
// has by itself; a nil one is left out.
func (i *Issuer) Token(claims jwt.MapClaims, header map[string]any) (string, error) {
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	t := jwt.NewWithClaims(k.method, claims)
	t.Header["typ"], t.Header["kid"] = "at+jwt", k.id
	maps.Copy(t.Header, header)
	maps.DeleteFunc(t.Header, func(_ string, v any) bool { return v == nil })
	return t.SignedString(k.signer)
}

// metadata answers with the issuer's metadata (RFC 8414).
func (i *Issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize",
		"token_endpoint": i.URL + "/token", "introspection_endpoint": i.URL + "/introspect",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// publish answers with the JWK Set (RFC 7517).
func (i *Issuer) publish(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []map[string]any{}
	for _, k := range i.keys {
		members, err := JWK(k.signer.Public())
		if err != nil {
			answer(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
			return
		}
		members["kid"], members["use"], members["alg"] = k.id, "sig", k.method.Alg()
		list = append(list, members)
	}
	answer(w, http.StatusOK, map[string]any{"keys": list})
}

// introspect answers what a token is worth (RFC 7662).
func (i *Issuer) introspect(w http.ResponseWriter, r *http.Request) {
	if !i.client(r) {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	claims, err := i.read(r.PostFormValue("token"))
	if err != nil {
		answer(w, http.StatusOK, map[string]any{"active": false})
		return
	}
	claims["active"] = true
	answer(w, http.StatusOK, claims)
}

// client reports whether a request is of the client that has a secret.
func (i *Issuer) client(r *http.Request) bool {
	id, secret, ok := r.BasicAuth()
	return ok && id == ClientID && strings.ReplaceAll(secret, "+", " ") == ClientSecret
}

// read checks a token that the issuer has made.
func (i *Issuer) read(token string) (jwt.MapClaims, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.revoked[token] {
		return nil, errors.New("revoked")
	}
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		for _, k := range i.keys {
			if k.id == t.Header["kid"] {
				return k.signer.Public(), nil
			}
		}
		return nil, errors.New("no such key")
	})
	return claims, err
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone needs no answer
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
