package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/outbound"
	"github.com/ambit-dev/ambit/trust"
)

// Authenticator takes access tokens. It is safe for concurrent use. What it fetches
// from issuers it fetches when it is needed; [Authenticator.Close] ends that.
type Authenticator struct {
	options   Options
	resources []*resource // the longest path first
	aliases   map[string]bool
	app       atomic.Pointer[ambit.App] // the one that it lets callers into; nil: none yet

	issuers       map[string]*issuer
	only          *issuer // one of issuers, for where there is one
	introspecting *issuer // nil: none
	seen          seen[*verified]
	asked         questions
	replays       Replays
	nonces        *nonces

	client *http.Client
	logger *slog.Logger

	mu     sync.Mutex
	closed bool
	ctx    context.Context // of all fetches; ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// issuer is one authorization server, ready for tokens.
type issuer struct {
	Issuer
	algorithms []string
	tenants    map[string]bool
	discovery  *discovery
	keys       *keys
}

// New checks the options and returns an authenticator that takes the tokens of their
// issuers. It reaches no issuer: one may be down at the start. The error names all
// that is wrong.
func New(o Options) (*Authenticator, error) {
	out := outbound.Options{Networks: o.Networks, Loopback: o.Loopback, Roots: o.Roots, Ports: o.ports()}
	if err := o.check(&out); err != nil {
		return nil, err
	}
	a := &Authenticator{
		options: o, resources: newResources(&o),
		aliases: make(map[string]bool, len(o.Aliases)), issuers: make(map[string]*issuer, len(o.Issuers)),
		replays: o.Replays, asked: newQuestions(), client: outbound.New(out), logger: o.Logger,
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	if a.logger == nil {
		a.logger = slog.Default()
	}
	if a.replays == nil {
		a.replays = newMemory()
	}
	key := slices.Clone(o.NonceKey)
	if len(key) == 0 {
		key = make([]byte, minNonceKey)
		_, _ = rand.Read(key) // never fails
	}
	a.nonces = &nonces{key}
	for _, alias := range o.Aliases {
		a.aliases[alias] = true
	}
	for i := range o.Issuers {
		s := a.newIssuer(o.Issuers[i])
		a.issuers[s.URL], a.only = s, s
		if s.Introspect {
			a.introspecting = s
		}
	}
	return a, nil
}

// ports are those of the addresses that the operator wrote down.
func (o *Options) ports() (ports []int) {
	for _, s := range o.Issuers {
		for _, address := range [...]string{s.URL, s.Keys, s.IntrospectionURL, s.TokenURL} {
			if u, err := url.Parse(address); err == nil && outbound.PortOf(u) != 0 {
				ports = append(ports, outbound.PortOf(u))
			}
		}
	}
	return ports
}

func (a *Authenticator) newIssuer(o Issuer) *issuer {
	s := &issuer{Issuer: o, algorithms: slices.Clone(o.Algorithms), tenants: map[string]bool{}}
	if s.algorithms == nil {
		s.algorithms = algorithms
	}
	if s.RolesClaim == "" {
		s.RolesClaim = "roles"
	}
	for _, tenant := range o.Tenants {
		s.tenants[tenant] = true
	}
	if o.Tenants == nil {
		s.tenants[""] = true
	}
	s.discovery = &discovery{auth: a, issuer: s.URL}
	s.keys = &keys{auth: a, issuer: s}
	return s
}

// CheckApplication has the authenticator go by the [ambit.Options.ImpliedScopes] of
// the application that it lets callers into, of which there is one; see
// [trust.ApplicationChecker]. Before, scopes are what they are.
func (a *Authenticator) CheckApplication(app *ambit.App) error {
	if !a.app.CompareAndSwap(nil, app) && a.app.Load() != app {
		return errors.New("oauth: the authenticator lets callers into another application already, whose scopes it goes by: make one for each")
	}
	return nil
}

// included reports whether a token's scopes include one that is needed (rule T06).
func (a *Authenticator) included(held []string, needed string) bool {
	if app := a.app.Load(); app != nil {
		return app.Covers(held, needed)
	}
	return slices.Contains(held, needed)
}

// start runs work in the background unless the authenticator was closed. The
// work's context ends when it is.
func (a *Authenticator) start(work func(context.Context)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.work.Go(func() { work(a.ctx) })
	return true
}

// Close ends what is being fetched and waits for it. Tokens can still be checked
// with the keys that are there. Closing twice does nothing.
func (a *Authenticator) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.work.Wait()
	a.client.CloseIdleConnections()
}

// Name returns "oauth".
func (a *Authenticator) Name() string { return "oauth" }

// Hint says where tokens come from.
func (a *Authenticator) Hint() string {
	urls := make([]string, len(a.options.Issuers))
	for i, s := range a.options.Issuers {
		urls[i] = s.URL
	}
	return "Send Authorization: Bearer TOKEN, with an access token of " + strings.Join(urls, " or ") + "."
}

// Authenticate implements [trust.Authenticator]. An API key is left to others, and
// so is a token that is no JWT where no issuer introspects and the application has
// no verifier.
func (a *Authenticator) Authenticate(r *http.Request) (*trust.Identity, error) {
	c, refused := credentialOf(r)
	if refused != nil {
		return nil, refused
	}
	if c.token == "" || strings.HasPrefix(c.token, apiKey) ||
		a.options.Verify == nil && a.introspecting == nil && !c.dpop && !compact(c.token) {
		return nil, nil
	}
	at := a.resourceAt(r.Host, r.URL.Path)
	if at == nil {
		return nil, errNoResource
	}
	v, err := a.check(r, c.token)
	if err != nil {
		return nil, err
	}
	if err := a.allows(at, v); err != nil {
		return nil, err
	}
	if err := a.sender(r, at, c, v); err != nil {
		return nil, err
	}
	if err := a.scoped(at, v.identity.Principal); err != nil {
		return nil, err
	}
	return &v.identity, nil
}

// check checks a token in the way that was configured.
func (a *Authenticator) check(r *http.Request, token string) (*verified, error) {
	if a.options.Verify != nil {
		return a.verifier(r, token)
	}
	v, err := a.verify(r.Context(), token)
	if err == nil && v == nil {
		err = errUnknown
	}
	return v, err
}
