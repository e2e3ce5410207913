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
	cookies *ambit.Sealer // of the keys that it takes to decide, so that nobody else can make one
	person  func(ctx context.Context, name string) (*ambit.Principal, error)
}

func newLogin(app *ambit.App, person func(context.Context, string) (*ambit.Principal, error)) *login {
	return &login{code: rand.Text()[:8], cookies: app.ReviewSealer("login"), person: person}
}

// cookie is the name of what a browser sends, and where it sends it.
const cookie, cookiePath = "notes-login", "/approvals"

// who returns the person who is logged in, and since when; nobody where the cookie
// is none of ours or too old.
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
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root{color-scheme:light dark;--ground:#f6f7f8;--card:#fff;--ink:#16191d;--line:#dfe3e8;--link:#1d4ed8;--wrong:#b42318}
@media(prefers-color-scheme:dark){:root{--ground:#101317;--card:#181c22;--ink:#e8ebef;--line:#2c333c;--link:#8ab4ff;--wrong:#ff8f86}}
body{margin:12vh auto;max-width:24rem;padding:0 1rem;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
form,input,button{box-sizing:border-box;width:100%;border:1px solid var(--line);border-radius:8px;font:inherit}
form{padding:1.25rem;background:var(--card)}input{margin:.2rem 0 1rem;padding:.55rem .7rem;background:var(--ground);color:var(--ink)}
button{min-height:2.75rem;border-color:var(--link);background:var(--link);color:var(--card);font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}.wrong{color:var(--wrong);font-weight:600}</style>
<h1>Log in to Notes</h1><p>This login is for development. The code stands on the terminal of the server.</p>{{with .Wrong}}<p class="wrong" role="alert">{{.}}</p>{{end}}
<form method="post"><label>Name <input name="name" value="{{.Name}}"{{if not .Name}} autofocus{{end}} required></label>
<label>Code <input name="code" autocomplete="off"{{if .Name}} autofocus{{end}} required></label><button>Log in</button></form></html>`

// ServeHTTP shows the form and takes it.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	shown := struct{ Name, Wrong string }{Name: r.PostFormValue("name")}
	if r.Method == http.MethodPost {
		_, err := l.person(r.Context(), shown.Name)
		right := subtle.ConstantTimeCompare([]byte(strings.ToUpper(strings.TrimSpace(r.PostFormValue("code")))), []byte(l.code)) == 1
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

// out logs whoever it is out, and leads to the login.
func (l *login) out(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: cookiePath, MaxAge: -1, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// localPath is where a person wanted to go, as long as that is the approvals page.
func localPath(back string) string {
	if back == cookiePath || strings.HasPrefix(back, cookiePath+"/") {
		return back
	}
	return cookiePath
}
