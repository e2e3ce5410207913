package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// loginFor is how long a person stays logged in.
const loginFor = 8 * time.Hour

// login is a login for development: whoever can read what the server writes on its
// terminal may say who they are. In its place belongs the login that your people
// have.
type login struct {
	code    string
	cookies *ambit.Sealer
	person  func(ctx context.Context, name string) (*ambit.Principal, error)
}

func newLogin(app *ambit.App, person func(context.Context, string) (*ambit.Principal, error)) *login {
	return &login{code: rand.Text()[:8], cookies: app.Sealer("login"), person: person}
}

// cookie is the name of what a browser sends, and where it sends it.
const cookie, cookiePath = "notes-login", "/approvals"

// who returns the person who is logged in, and since when; nobody where the cookie
// is none of this key ring's or too old.
func (l *login) who(r *http.Request) (*ambit.Principal, time.Time, error) {
	sent, err := r.Cookie(cookie)
	if err != nil {
		return nil, time.Time{}, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(sent.Value)
	if err != nil {
		return nil, time.Time{}, nil
	}
	plain, err := l.cookies.Open(nil, sealed, nil)
	if err != nil {
		return nil, time.Time{}, nil
	}
	seconds, name, _ := strings.Cut(string(plain), " ")
	since, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(since, 0)
	if err != nil || time.Since(at) > loginFor {
		return nil, time.Time{}, nil
	}
	person, err := l.person(r.Context(), name)
	if code := ambit.CodeOf(err); code == ambit.CodeInvalidInput || code == ambit.CodeForbidden {
		return nil, time.Time{}, nil // the name is nobody's any more
	}
	return person, at, err
}

// signIn returns where people log in.
func (l *login) signIn(_ *http.Request, back string) string {
	return "/login?back=" + url.QueryEscape(back)
}

const loginPage = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Log in to Notes</title>
<meta name="viewport" content="width=device-width"><style>body{font:1.1rem/1.6 system-ui;max-width:24rem;margin:4rem auto;padding:0 1rem}
input,button{font:inherit;padding:.4rem .6rem;width:100%;box-sizing:border-box;margin:.2rem 0 1rem}</style>
<h1>Log in</h1><p>This login is for development. The code stands on the terminal of the server.</p>{{with .Wrong}}<p><b>{{.}}</b></p>{{end}}
<form method="post"><label>Name <input name="name" value="{{.Name}}" autofocus required></label>
<label>Code <input name="code" autocomplete="off" required></label><button>Log in</button></form></html>`

// ServeHTTP shows the form and takes it.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	shown := struct{ Name, Wrong string }{Name: r.PostFormValue("name")}
	if r.Method == http.MethodPost {
		_, err := l.person(r.Context(), shown.Name)
		right := subtle.ConstantTimeCompare([]byte(strings.TrimSpace(r.PostFormValue("code"))), []byte(l.code)) == 1
		if err == nil && right {
			sealed := l.cookies.Seal(nil, []byte(strconv.FormatInt(time.Now().Unix(), 10)+" "+shown.Name), nil)
			http.SetCookie(w, &http.Cookie{
				Name: cookie, Path: cookiePath, Value: base64.RawURLEncoding.EncodeToString(sealed),
				HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
			})
			http.Redirect(w, r, localPath(r.URL.Query().Get("back")), http.StatusSeeOther)
			return
		}
		shown.Wrong = "There is nobody of this name, or the code is another one."
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	_ = template.Must(template.New("login").Parse(loginPage)).Execute(w, shown) // who has gone needs no page
}

// localPath is where a person wanted to go, as long as that is the approvals page.
func localPath(back string) string {
	if back == cookiePath || strings.HasPrefix(back, cookiePath+"/") {
		return back
	}
	return cookiePath
}
