package approval

import (
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// FreshLogin is how long ago a person may have logged in who decides on the page.
const FreshLogin = 5 * time.Minute

// maxForm is how many bytes the form of a decision may have.
const maxForm = 8 << 10

// PageOptions say who is on the page.
type PageOptions struct {
	// Login returns who sends a request, by the application's own login, a session
	// cookie for instance, and when that person last proved who they are. Nobody
	// is logged in where the principal is nil. It must pay no heed to tokens that
	// a program could send. An error is logged and answered with 503. Required.
	Login func(r *http.Request) (person *ambit.Principal, at time.Time, err error)
	// SignIn returns the address where a person logs in, or proves again who they
	// are although they are logged in; from there they come back to the path
	// back. Required.
	SignIn func(r *http.Request, back string) (address string)
	// SignOut is a path of the page's own origin, as in "/logout", to which a form
	// is posted by whoever wants to be logged out. Empty: the page offers no way
	// to log out.
	SignOut string
	// OwnOrigin says that nothing else of the application is served at the page's
	// host and port, and has [Page.Wrap] see to it. Required where a capability is exposed on WebMCP: a script
	// that offers tools to an agent in the browser must not stand on the origin on
	// which people decide about agents.
	OwnOrigin bool
	// Proxies and ProxyHeader are those of [trust.Options].
	Proxies     []string
	ProxyHeader string
}

// Page is the approvals page: what waits, and one proposal with its complete
// input and preview, where a person decides. It is served by the server and works
// without scripts. Requests with a bearer token or an agent's signature find
// nothing there. Make one with [NewPage]. It is safe for concurrent use.
type Page struct {
	app       *ambit.App
	approvals *Approvals
	options   PageOptions
	base      string // the path, without a slash at the end
	guard     *trust.Guard
	forms     *ambit.Sealer
	pages     *template.Template
	style     string // name of the style sheet
	now       func() time.Time
}

// NewPage checks the options and returns the page of an application, for
// [Page.Wrap] or to be mounted at the path of [Options.URL]. The approvals are those
// of the application's [ambit.Options.Approver]. The application
// needs a key ring and, where it has [ambit.ReviewKeys], a half that opens. Login
// must not believe what processes without that half could have made: its cookies,
// say, are for [ambit.App.ReviewSealer]. NewPage freezes the application
// ([ambit.App.Freeze]): add capabilities and observers before.
func NewPage(app *ambit.App, approvals *Approvals, o PageOptions) (*Page, error) {
	switch {
	case app == nil || approvals == nil:
		return nil, errors.New("approval: NewPage needs an application and its approvals")
	case approvals.page == nil:
		return nil, errors.New("approval: NewPage needs Options.URL, the address that the page is reached at")
	case o.Login == nil:
		return nil, errors.New("approval: PageOptions.Login is missing: only the application knows who is logged in")
	case o.SignIn == nil:
		return nil, errors.New("approval: PageOptions.SignIn is missing: give the address where people log in")
	case o.SignOut != "" && (o.SignOut[0] != '/' || strings.HasPrefix(o.SignOut, "//")):
		return nil, errors.New("approval: PageOptions.SignOut is \"" + o.SignOut + "\": give a path of the page's own origin, as in \"/logout\"")
	}
	if own, ok := app.Approver().(*Approvals); ok && own != approvals {
		return nil, errors.New("approval: NewPage is given other approvals than Options.Approver of the application: give it those, so that it shows what the application's calls wait for")
	}
	p := &Page{app: app, approvals: approvals, options: o, base: approvals.page.Path, now: time.Now}
	if err := app.CanReview(); err != nil {
		return nil, fmt.Errorf("approval: NewPage: %w", err)
	}
	p.forms = app.ReviewSealer("form")
	if !o.OwnOrigin {
		for _, contract := range app.Capabilities() {
			if contract.Spec().Expose.Has(ambit.WebMCP) {
				return nil, errors.New("approval: capability \"" + contract.Spec().Name + "\" is exposed on WebMCP: serve the approvals page at a host of its own, and say so by PageOptions.OwnOrigin")
			}
		}
	}
	if err := p.parsePages(); err != nil {
		return nil, err
	}
	var err error
	p.guard, err = trust.NewGuard(app, trust.Options{
		PublicURL: (&url.URL{Scheme: approvals.page.Scheme, Host: approvals.page.Host}).String(), Hosts: []string{approvals.page.Hostname()},
		ListedOrigins: true, AllowUnauthenticated: true, Proxies: o.Proxies, ProxyHeader: o.ProxyHeader,
	})
	return p, err
}

// Wrap returns a handler that answers requests for the page and hands all others
// to next, for serve.Options.Wrap. With [PageOptions.OwnOrigin], whatever is for
// the page's host is for the page; without it, whatever is for the page's path.
func (p *Page) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, ours := p.below(r)
		if p.options.OwnOrigin {
			ours = strings.EqualFold(p.withoutPort(r.Host), p.withoutPort(p.approvals.page.Host))
		}
		if ours {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// withoutPort takes the port off a host that is the one of the page's scheme.
func (p *Page) withoutPort(host string) string {
	return strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[p.approvals.page.Scheme])
}

// below returns what follows the page's path, if the request is for the page.
func (p *Page) below(r *http.Request) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(r.URL.Path, p.base)
	return strings.TrimPrefix(rest, "/"), ok && (rest == "" || rest[0] == '/')
}

// ServeHTTP answers a request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	rest, ok := p.below(r)
	if !ok || r.URL.RawPath != "" || strings.Contains(rest, "/") || programs(r) {
		p.problem(w, r, notFound())
		return
	}
	if _, refused := p.guard.Admit(guarded(r)); refused != nil {
		p.problem(w, r, refused)
		return
	}
	switch {
	case rest == p.style && r.Method == http.MethodGet:
		p.serveStyle(w)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.look(w, r, rest)
	case r.Method == http.MethodPost && rest != "":
		p.post(w, r, rest)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		p.problem(w, r, &ambit.Error{Code: ambit.CodeMethodNotAllowed})
	}
}

// secure sets what a browser has to know of every answer: nothing of it is kept,
// framed, or scripted, and no other page learns where it came from.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // no-referrer would take the Origin off the page's own form
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "tools=()")
}

// programs reports whether a request has what programs prove themselves by. A
// person's browser sends none of it.
func programs(r *http.Request) bool {
	for _, name := range [...]string{"Authorization", "Dpop", "Signature", "Signature-Input", "Signature-Agent"} {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	return false
}

// guarded returns the request as the guard is to judge it. A person may come to
// the page by a link from anywhere, which changes nothing; whatever is more than
// that comes from the page itself.
func guarded(r *http.Request) *http.Request {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
		return r
	}
	link := *r
	link.Header = r.Header.Clone()
	link.Header.Del("Sec-Fetch-Site")
	return &link
}

// person returns who is logged in, or answers the request itself.
func (p *Page) person(w http.ResponseWriter, r *http.Request, back string) (person *ambit.Principal, fresh, ok bool) {
	person, at, err := p.options.Login(r)
	switch {
	case err != nil:
		p.app.Logger().ErrorContext(r.Context(), "nobody can tell who is on the approvals page", slog.Any("cause", err))
		p.problem(w, r, ambit.Errorf(ambit.CodeUnavailable, "Nobody can tell at the moment who is logged in.").WithHint("Try again later."))
		return nil, false, false
	case person == nil:
		http.Redirect(w, r, p.options.SignIn(r, back), http.StatusSeeOther)
		return nil, false, false
	}
	age := p.now().Sub(at)
	return person, age <= FreshLogin && age > -time.Minute, true // clocks of two machines differ a little
}

// look answers a request that changes nothing.
func (p *Page) look(w http.ResponseWriter, r *http.Request, id string) {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		p.problem(w, r, ambit.Errorf(ambit.CodeCrossOriginBlocked, "This page is for people, not for scripts."))
		return
	}
	person, fresh, ok := p.person(w, r, r.URL.RequestURI())
	switch {
	case !ok:
	case id == "":
		p.list(w, r, person)
	default:
		p.detail(w, r, person, fresh, id, http.StatusOK, nil)
	}
}

// post takes a decision. Nothing of it leads to another origin: a person whose
// login is not fresh is shown the proposal, with the way to log in.
func (p *Page) post(w http.ResponseWriter, r *http.Request, id string) {
	form, refused := p.form(w, r)
	if refused != nil {
		p.problem(w, r, refused)
		return
	}
	back := p.base + "/" + id
	person, fresh, ok := p.person(w, r, back)
	switch {
	case !ok:
		return
	case !fresh:
		p.detail(w, r, person, false, id, http.StatusForbidden, ambit.Errorf(ambit.CodeForbidden, "It has been more than five minutes since you logged in. Nothing was decided.").
			WithHint("Sign in again, and decide then."))
		return
	}
	ruling := Ruling{ID: id, Verdict: parseVerdict(form.Get("verdict")), Reason: strings.TrimSpace(form.Get("reason"))}
	if ruling.Preview, refused = p.redeem(r.Context(), person, id, form.Get("token")); refused == nil {
		_, err := p.approvals.Decide(r.Context(), p.app, person, ruling)
		if err == nil {
			http.Redirect(w, r, back, http.StatusSeeOther)
			return
		}
		refused = ambit.ErrorFrom(p.approvals.failed(r.Context(), err), ambit.ErrorOptions{})
	}
	p.detail(w, r, person, fresh, id, refused.Code.HTTPStatus(), refused)
}

// form reads the form of a decision, which comes from the page itself.
func (p *Page) form(w http.ResponseWriter, r *http.Request) (url.Values, *ambit.Error) {
	if len(r.Header["Origin"]) == 0 && len(r.Header["Sec-Fetch-Site"]) == 0 {
		return nil, ambit.Errorf(ambit.CodeCrossOriginBlocked, "Decisions are made on the page itself.")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, &ambit.Error{Code: ambit.CodeUnsupportedMediaType}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, &ambit.Error{Code: ambit.CodeInputTooLarge}
		}
		return nil, &ambit.Error{Code: ambit.CodeInvalidInput}
	}
	return r.PostForm, nil
}

// parseVerdict returns the verdict of a name, or 0.
func parseVerdict(name string) Verdict {
	for v := Approve; v <= SettleFailed; v++ {
		if v.String() == name {
			return v
		}
	}
	return 0
}
