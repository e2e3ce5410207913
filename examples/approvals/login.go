package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
)

// login is a login for development: whoever can read what the server writes on its
// terminal may say who they are. In its place belongs the login that your people
// have; what the page needs of it are who and signIn.
type login struct {
	code   string
	person func(ctx context.Context, name string) (*ambit.Principal, error)

	mu       sync.Mutex
	sessions map[string]session // by what the cookie holds
}

// session is somebody who has logged in.
type session struct {
	name  string
	since time.Time
}

// cookie is the name of what a browser sends, and pagePath where it sends it.
const cookie, pagePath = "shelf-login", "/approvals"

func newLogin(person func(context.Context, string) (*ambit.Principal, error)) *login {
	return &login{code: rand.Text()[:8], person: person, sessions: map[string]session{}}
}

// announce tells whoever has started the server how to log in, or how to have the page
// where the server listens, if callers are sent elsewhere.
func (l *login) announce(publicURL string, bound net.Addr) {
	line := fmt.Sprintf("page=%s code=%s (a login for development: give the name of a key and this code)", cmp.Or(publicURL, defaultURL)+pagePath, l.code)
	if here := hereOf(bound); publicURL == "" && here != defaultURL {
		line = "page=none, since callers are sent to " + defaultURL + pagePath + ": to have it here, add --public-url " + here
	}
	_, _ = fmt.Fprintln(os.Stderr, "approvals", line) // a server whose standard error is gone still serves
}

// hereOf is the URL by which this machine reaches what listens there.
func hereOf(bound net.Addr) string {
	if tcp, ok := bound.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", tcp.Port)
	}
	return "http://" + bound.String()
}

// who returns the person who is logged in, and since when.
func (l *login) who(r *http.Request) (*ambit.Principal, time.Time, error) {
	sent, err := r.Cookie(cookie)
	if err != nil {
		return nil, time.Time{}, nil
	}
	l.mu.Lock()
	s, found := l.sessions[sent.Value]
	l.mu.Unlock()
	if !found || time.Since(s.since) > 8*time.Hour {
		return nil, time.Time{}, nil
	}
	person, err := l.person(r.Context(), s.name)
	return person, s.since, err
}

// signIn returns where people log in.
func (l *login) signIn(_ *http.Request, back string) string {
	return "/login?back=" + url.QueryEscape(back)
}

var form = template.Must(template.New("login").Parse(`<!DOCTYPE html><html lang="en"><title>Log in</title><h1>Log in</h1>{{with .}}<p role="alert">{{.}}</p>{{end}}
<form method="post"><label>Name <input name="name" required></label> <label>Code <input name="code" autocomplete="off" required></label> <button>Log in</button></form>`))

// localPath is where a person wanted to go, as long as that is the approvals page.
func localPath(back string) string {
	if strings.HasPrefix(back, pagePath+"/") {
		return back
	}
	return pagePath
}

// ServeHTTP shows the form and takes it, and leads back to what the person wanted to see
// of the approvals page, such as a proposal.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	wrong := ""
	if r.Method == http.MethodPost {
		name := r.PostFormValue("name")
		_, err := l.person(r.Context(), name)
		if err == nil && subtle.ConstantTimeCompare([]byte(r.PostFormValue("code")), []byte(l.code)) == 1 {
			id := rand.Text()
			l.mu.Lock()
			l.sessions[id] = session{name, time.Now()}
			l.mu.Unlock()
			http.SetCookie(w, &http.Cookie{Name: cookie, Path: pagePath, Value: id, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
			http.Redirect(w, r, localPath(r.URL.Query().Get("back")), http.StatusSeeOther)
			return
		}
		wrong = "There is nobody of this name, or the code is another one."
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = form.Execute(w, wrong) // who has gone needs no page
}
