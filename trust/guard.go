package trust

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// Guard decides about requests before anything of the application sees them.
// It is safe for concurrent use; nothing of it changes but what it counts by
// address. Make one with [NewGuard].
type Guard struct {
	app            *ambit.App
	hosts          hosts
	origins        origins
	listedOrigins  bool
	authenticators []Authenticator
	agents         AgentVerifier
	adders         []ContextAdder
	open           bool   // anonymous callers from other machines are served
	hint           string // which credentials would do
	anonymous      *Identity
	addresses      *addresses
	signatures     *refusedSignatures
}

// NewGuard checks the options and returns their guard. A setting that cannot
// work is an error that names it.
func NewGuard(app *ambit.App, o Options) (*Guard, error) {
	if app == nil {
		return nil, errors.New("trust: NewGuard needs an application")
	}
	if err := checkAuthenticators(o.Authenticators); err != nil {
		return nil, err
	}
	public, err := publicURL(o.PublicURL)
	if err != nil {
		return nil, err
	}
	hosts, err := newHosts(o, public)
	if err != nil {
		return nil, err
	}
	origins, err := newOrigins(o, public)
	if err != nil {
		return nil, err
	}
	proxies, err := newProxies(o.Proxies, o.ProxyHeader, o.ProxyCertificates)
	if err != nil {
		return nil, err
	}
	addresses, err := newAddresses(o.Refusals, proxies)
	if err != nil {
		return nil, err
	}
	if c, ok := o.Agents.(ApplicationChecker); ok {
		if err := c.CheckApplication(app); err != nil {
			return nil, err
		}
	}
	var adders []ContextAdder
	for _, a := range o.Authenticators {
		if c, ok := a.(ApplicationChecker); ok {
			if err := c.CheckApplication(app); err != nil {
				return nil, err
			}
		}
		if adder, ok := a.(ContextAdder); ok {
			adders = append(adders, adder)
		}
	}
	return &Guard{
		app: app, hosts: hosts, origins: origins, listedOrigins: o.ListedOrigins,
		authenticators: slices.Clone(o.Authenticators), agents: o.Agents, adders: adders,
		hint:      hintOf(o.Authenticators),
		open:      len(o.Authenticators) > 0 || o.AllowUnauthenticated,
		anonymous: &Identity{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}},
		addresses: addresses, signatures: newRefusedSignatures(),
	}, nil
}

func checkAuthenticators(list []Authenticator) error {
	names := make(map[string]bool, len(list))
	for _, a := range list {
		if a == nil {
			return errors.New("trust: Options.Authenticators holds nil: leave it out")
		}
		switch name := a.Name(); {
		case name == "":
			return fmt.Errorf("trust: Options.Authenticators holds a %T without a name", a)
		case names[name]:
			return fmt.Errorf("trust: Options.Authenticators holds two of the name %q", name)
		default:
			names[name] = true
		}
	}
	return nil
}

// hintOf joins what the authenticators say in words.
func hintOf(list []Authenticator) string {
	var hints []string
	for _, a := range list {
		if h, ok := a.(Hinter); ok && h.Hint() != "" {
			hints = append(hints, h.Hint())
		}
	}
	return strings.Join(hints, " Or: ")
}

func publicURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || originOf(u) == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("trust: Options.PublicURL is %q: give an http or https URL without user, query and fragment", text)
	}
	return u, nil
}

// Admit decides about one request, before its body is read, and returns who
// sent it. The error is complete: a surface sends it as it is, after
// [Guard.Challenge].
func (g *Guard) Admit(r *http.Request) (*Identity, *ambit.Error) {
	if refused := g.misdirected(r); refused != nil {
		return nil, refused
	}
	from := g.addresses.of(r, false)
	if wait := g.addresses.take(from, time.Now()); wait > 0 {
		return nil, tooManyRefusals(wait)
	}
	identity, refused := g.authenticate(r)
	if refused != nil {
		g.refused(r, from)
		return nil, refused
	}
	g.addresses.giveBack(from)
	if signed := g.verify(r); signed != nil {
		own := *identity
		own.Signed = signed
		identity = &own
	}
	return identity, nil
}

// misdirected refuses requests that cannot be for this application, or from where
// they may not come, whatever credential they have.
func (g *Guard) misdirected(r *http.Request) *ambit.Error {
	host := g.hosts.allow(r.Host)
	connection := g.open && !g.app.Development() || fromThisMachine(r)
	if host && connection && (!g.listedOrigins && deliberate(r) || g.origins.allow(r)) {
		return nil
	}
	from := g.addresses.of(r, true)
	if wait := g.addresses.take(from, time.Now()); wait > 0 {
		return tooManyRefusals(wait)
	}
	g.refused(r, from)
	switch {
	case !host:
		g.app.Logger().InfoContext(r.Context(), "request refused: its Host is none that is answered to", slog.String("host", r.Host), slog.Any("answers", slices.Sorted(maps.Keys(g.hosts))),
			slog.String("cure", "use one of these, or add it to trust.Options.Hosts; the approvals page is at the host of approval.Options.URL alone"))
		return ambit.Errorf(ambit.CodeCrossOriginBlocked, "This application does not answer to the host name of the request.").
			WithHint("Use the address that the application's operator gave out.")
	case !connection:
		cause := "there are no authenticators and AllowUnauthenticated is off"
		if g.app.Development() {
			cause = "development mode is for this machine alone"
		}
		g.app.Logger().WarnContext(r.Context(), "request refused: it did not come over a loopback address", slog.String("because", cause))
		return ambit.Errorf(ambit.CodeForbidden, "This application answers only on the machine that it runs on.").
			WithHint("Ask the application's operator for access.")
	}
	return ambit.Errorf(ambit.CodeCrossOriginBlocked, "Requests from pages of another origin are not taken.").
		WithHint("Call from the application's own pages, or from a program.")
}

// Authenticates reports whether there is any credential that a caller could
// show. Where there is, a caller who shows none must be challenged rather than
// told that something does not exist.
func (g *Guard) Authenticates() bool { return len(g.authenticators) > 0 }

// Unauthenticated returns the answer for a sender who has shown no credential
// and needs one. It is the same whatever was asked for.
func (g *Guard) Unauthenticated() *ambit.Error {
	return g.complete(&ambit.Error{Code: ambit.CodeUnauthenticated, Hint: g.hint})
}

// refused tells the operator when a request was refused for which the last try of
// its sender was taken.
func (g *Guard) refused(r *http.Request, from sender) {
	if !g.addresses.exhausted(from, time.Now()) {
		return
	}
	text := "too many refused requests of one address: all of its requests are refused for a while"
	if from.foreign {
		text = "too many requests of one address for a foreign host, or from foreign pages: they are no longer logged for a while"
	}
	g.app.Logger().WarnContext(r.Context(), text, g.from(r))
}

// from says in a log who sent a request.
func (g *Guard) from(r *http.Request) slog.Attr {
	if client := g.addresses.proxies.client(r); client.IsValid() {
		return slog.String("address", client.String())
	}
	return slog.String("address", r.RemoteAddr)
}

func tooManyRefusals(wait time.Duration) *ambit.Error {
	seconds := (wait + time.Second - 1) / time.Second
	e := ambit.Errorf(ambit.CodeRateLimited, "Too many requests from your address were refused.").
		WithHint(fmt.Sprintf("Wait %d s, and see to it that the credential and the address of the application are right.", seconds))
	e.RetryAfter = seconds * time.Second
	return e
}

func (g *Guard) complete(e *ambit.Error) *ambit.Error {
	return ambit.ErrorFrom(e, ambit.ErrorOptions{SupportContact: g.app.SupportContact()})
}
