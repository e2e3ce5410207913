package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// people are those who may say on the page that it is they, and the role of each.
func people() map[string]string { return map[string]string{"alice": "editor", "bob": "reader"} }

// programs are the clients that act for themselves, and the role of each.
func programs() map[string]string {
	return map[string]string{"importer": "editor", "reporter": "reader"}
}

// known lists names with their roles.
func known(roles map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		list = append(list, name+" ("+roles[name]+")")
	}
	return strings.Join(list, ", ")
}

// issuer is the authorization server.
type issuer struct {
	url  string
	mux  http.ServeMux
	sign func(claims map[string]any) (token string, err error)

	mu      sync.Mutex
	clients map[string][]string // a registered client's id -> where it may be sent back to
	codes   map[string]grant
}

// most is how many clients and codes are kept; beyond it, all are forgotten.
const most = 1000

// newIssuer makes an issuer with a new key.
func newIssuer(url string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	set, err := keySet(key)
	if err != nil {
		return nil, err
	}
	i := &issuer{url: url, sign: signer(key), clients: map[string][]string{}, codes: map[string]grant{}}
	i.mux.HandleFunc("GET /.well-known/oauth-authorization-server", i.metadata)
	i.mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, set) })
	i.mux.HandleFunc("POST /register", i.register)
	i.mux.HandleFunc("GET /authorize", i.authorize)
	i.mux.HandleFunc("POST /token", i.token)
	return i, nil
}

// ServeHTTP answers one request. A request for another host has been led here by
// a name that somebody else controls.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if "http://"+r.Host != i.url {
		http.Error(w, "The issuer is "+i.url+".", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	w.Header().Set("Cache-Control", "no-store")
	i.mux.ServeHTTP(w, r)
}

// metadata answers with the issuer's metadata (RFC 8414).
func (i *issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": i.url, "jwks_uri": i.url + "/keys", "registration_endpoint": i.url + "/register",
		"authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "client_credentials"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// register takes a client that nobody has heard of (RFC 7591).
func (i *issuer) register(w http.ResponseWriter, r *http.Request) {
	var client struct {
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&client); err != nil || len(client.Redirects) == 0 {
		refuse(w, "invalid_redirect_uri", "a client has redirect_uris")
		return
	}
	id := rand.Text()
	i.mu.Lock()
	remember(i.clients, id, client.Redirects)
	i.mu.Unlock()
	answer(w, http.StatusCreated, map[string]any{
		"client_id": id, "redirect_uris": client.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
	})
}

// token gives a token for a code, or to a program (RFC 6749, sections 4.1.3 and
// 4.4).
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	var g grant
	switch kind := r.PostFormValue("grant_type"); kind {
	case "authorization_code":
		var why string
		if g, why = i.redeem(r); why != "" {
			refuse(w, "invalid_grant", why)
			return
		}
	case "client_credentials":
		name := r.PostFormValue("client_id")
		g = grant{subject: name, client: name, role: programs()[name], resource: r.PostFormValue("resource"), scope: r.PostFormValue("scope")}
		if g.role == "" {
			refuse(w, "invalid_client", fmt.Sprintf("client_id is none of %s", known(programs())))
			return
		}
	default:
		refuse(w, "unsupported_grant_type", "grant_type is authorization_code or client_credentials")
		return
	}
	if g.resource == "" {
		refuse(w, "invalid_target", "resource is missing: say which endpoint the token is for (RFC 8707)")
		return
	}
	now := time.Now()
	token, err := i.sign(map[string]any{
		"iss": i.url, "sub": g.subject, "aud": g.resource, "client_id": g.client, "scope": g.scope, "roles": []string{g.role},
		"iat": now.Unix(), "exp": now.Add(lifetime).Unix(), "jti": rand.Text(),
	})
	if err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"error": "server_error"})
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(lifetime.Seconds()), "scope": g.scope,
	})
}

// remember notes something under a name, in a map that stays small.
func remember[V any](in map[string]V, name string, value V) {
	if len(in) >= most {
		clear(in)
	}
	in[name] = value
}

func refuse(w http.ResponseWriter, code, why string) {
	answer(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": why})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone needs no answer
}
