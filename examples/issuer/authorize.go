package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// grant is what a token will say, and for a code who may redeem it.
type grant struct {
	subject, role           string
	client, resource, scope string
	redirect, challenge     string
}

// choose is the page that stands where a login would.
const choose = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Who are you?</title>
<style>body{font:1.1rem/1.6 system-ui;max-width:30rem;margin:4rem auto;padding:0 1rem}a{display:block;padding:.4rem 0}</style>
<h1>Who are you?</h1><p>A program wants a token for <b>{{.Resource}}</b>{{with .Scope}} with the scopes <b>{{.}}</b>{{end}}.
This issuer is for development: choose.</p>{{range .People}}<a href="{{.Address}}">{{.Name}}, {{.Role}}</a>{{end}}</html>`

// authorize asks who is there and sends them back with a code (RFC 6749, section
// 4.1.1; RFC 7636; RFC 8707; RFC 9207).
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	redirects := i.clients[q.Get("client_id")]
	i.mu.Unlock()
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case err != nil || !slices.Contains(redirects, q.Get("redirect_uri")):
		http.Error(w, "The client is not registered, or not with this redirect_uri.", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") == "":
		http.Error(w, "The request takes response_type=code, a code_challenge by S256, and a resource.", http.StatusBadRequest)
		return
	}
	name := q.Get("login_hint")
	role, ok := people()[name]
	if !ok {
		i.choice(w, r)
		return
	}
	code := rand.Text()
	i.mu.Lock()
	remember(i.codes, code, grant{name, role, q.Get("client_id"), q.Get("resource"), q.Get("scope"), q.Get("redirect_uri"), q.Get("code_challenge")})
	i.mu.Unlock()
	query := back.Query()
	query.Set("code", code)
	query.Set("state", q.Get("state"))
	query.Set("iss", i.url)
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// choice shows the page: a link for each person leads here again.
func (i *issuer) choice(w http.ResponseWriter, r *http.Request) {
	type person struct{ Name, Role, Address string }
	q := r.URL.Query()
	shown := struct {
		Resource, Scope string
		People          []person
	}{Resource: q.Get("resource"), Scope: q.Get("scope")}
	for _, name := range slices.Sorted(maps.Keys(people())) {
		q.Set("login_hint", name)
		shown.People = append(shown.People, person{name, people()[name], "/authorize?" + q.Encode()})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	_ = template.Must(template.New("choose").Parse(choose)).Execute(w, shown) // who has gone needs no page
}

// redeem takes a code, once (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
func (i *issuer) redeem(r *http.Request) (g grant, why string) {
	i.mu.Lock()
	g, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case !ok:
		return grant{}, "there is no such code, or it was used"
	case g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		return grant{}, "code_verifier does not fit the code_challenge"
	case g.redirect != r.PostFormValue("redirect_uri") || g.client != r.PostFormValue("client_id"):
		return grant{}, "the code is another client's"
	case r.PostFormValue("resource") != "" && g.resource != r.PostFormValue("resource"):
		return grant{}, "the code is for another resource"
	}
	return g, ""
}
