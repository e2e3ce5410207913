package webbotauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/internal/outbound"
	"github.com/ambit-dev/ambit/trust"
)

// Tag is the tag of the signatures that are looked at. Others, a proxy's own
// say, are of no concern.
const Tag = "web-bot-auth"

// Verifier verifies which agent has signed a request; it is what
// trust.Options.Agents wants. Make one with [New]. It is safe for concurrent use.
// What runs in the background are fetches of directories, each for five seconds
// at most; [Verifier.Close] ends those under way.
type Verifier struct {
	options           Options
	scheme, authority string // of the public URL; empty: not known
	agents            map[string]*known
	fetches           *fetches
	now               func() time.Time
	anyKey            bool // also those that have been published; tests alone set it
}

var (
	_ trust.AgentVerifier      = (*Verifier)(nil)
	_ trust.ApplicationChecker = (*Verifier)(nil)
	_ trust.Noticer            = (*Verifier)(nil)
)

// New checks the options and returns their verifier. It fetches nothing: a
// directory is fetched when its agent comes for the first time. A setting that
// cannot work is an error that names it.
func New(o Options) (*Verifier, error) {
	if len(o.Agents) == 0 {
		return nil, errNoAgents
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	scheme, authority, err := o.public()
	if err != nil {
		return nil, err
	}
	v := &Verifier{
		options: o, scheme: scheme, authority: authority, agents: make(map[string]*known, len(o.Agents)),
		fetches: newFetches(), now: time.Now,
	}
	for i := range o.Agents {
		if err := v.add(&o.Agents[i]); err != nil {
			return nil, fmt.Errorf("webbotauth: Options.Agents: %w", err)
		}
	}
	return v, nil
}

func (v *Verifier) add(a *Agent) error {
	identity, err := a.check()
	if err != nil {
		return err
	}
	if v.agents[identity] != nil {
		return fmt.Errorf("%s is there twice", identity)
	}
	agent := &known{url: identity, pinned: make(map[string]Key, len(a.Keys))}
	for _, key := range a.Keys {
		agent.pinned[key.thumbprint] = key
	}
	if a.Directory {
		if agent.directory, err = v.directory(a, identity); err != nil {
			return err
		}
	}
	v.agents[identity] = agent
	return nil
}

// directory returns the directory of an agent, not fetched yet.
func (v *Verifier) directory(a *Agent, identity string) (*directory, error) {
	fetched := a.Copy
	if fetched == "" {
		fetched = identity
		if _, query, ok := strings.Cut(a.URL, "?"); ok {
			fetched += "?" + query
		}
	}
	u, err := url.Parse(fetched)
	if err != nil {
		return nil, err
	}
	rules := v.options.outbound(u)
	if err := rules.Check(u); err != nil {
		return nil, fmt.Errorf("%s: %w", fetched, err)
	}
	d := &directory{url: fetched, client: outbound.New(rules), log: v.options.Logger, fetches: v.fetches}
	if a.Copy != "" {
		own, err := url.Parse(identity)
		if err != nil {
			return nil, err
		}
		d.signedFor = own.Host
	}
	return d, nil
}

// Close ends the fetches under way and waits for them. Afterwards the keys that
// are known stay known, and nothing is fetched anymore.
func (v *Verifier) Close() error {
	v.fetches.close()
	return nil
}

// CheckApplication refuses an application with a capability that requires
// ambit.AgentOnce, where several instances would each remember nonces for
// themselves.
func (v *Verifier) CheckApplication(app *ambit.App) error {
	if _, own := v.options.Nonces.(*Memory); own && v.options.Instances > 1 && app.RequiredAgent() == ambit.AgentOnce {
		return errors.New("webbotauth: Options.Instances is more than one and Options.Nonces is in memory, while a capability requires an agent that signs once: " +
			"give Nonces that the instances share, or serve with one")
	}
	return nil
}

// Notices says that a restart forgets nonces, see [trust.Noticer].
func (v *Verifier) Notices() []string {
	if _, own := v.options.Nonces.(*Memory); !own {
		return nil
	}
	return []string{"agents' nonces are remembered in the memory of this process only: a restart forgets them, and other instances do not see them"}
}

// Verify judges the signatures of a request, see [trust.AgentVerifier]. Of
// several that hold, the one that reaches farthest counts, and of those the
// first.
func (v *Verifier) Verify(r *http.Request) *trust.SignedRequest {
	input, value := r.Header["Signature-Input"], r.Header["Signature"]
	if len(input) == 0 && len(value) == 0 {
		return nil
	}
	signatures, err := messagesig.Parse(input, value)
	if err != nil {
		return &trust.SignedRequest{Outcome: invalid("signature-input-unreadable").String()}
	}
	message := v.message(r)
	var held []*judged
	var first finding
	var named ambit.AgentIdentity
	for _, s := range signatures {
		if tag, ok := s.Text("tag"); !ok || tag != Tag {
			continue
		}
		j, why := v.judge(r, message, s)
		switch {
		case j != nil:
			held = append(held, j)
		case first.outcome == "":
			first, named = why, naming(s, message)
		}
	}
	slices.SortStableFunc(held, func(a, b *judged) int { return cmp.Compare(b.identity.Level, a.identity.Level) })
	switch {
	case len(held) > 0:
		return v.request(held)
	case first.outcome == "":
		return nil
	}
	return &trust.SignedRequest{Outcome: first.String(), Named: named}
}

// naming returns whom a signature says that it is of, as far as it does.
func naming(s *messagesig.Signature, m *messagesig.Message) (a ambit.AgentIdentity) {
	a.URL, _ = agentOf(s, m)
	a.Key, _ = s.Text("keyid")
	return a
}

// message returns what a signature can cover of a request that came to this
// server. The target is what stands in the request line, whatever a handler on
// the way here has made of the URL.
func (v *Verifier) message(r *http.Request) *messagesig.Message {
	m := &messagesig.Message{Method: r.Method, Header: r.Header, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery}
	if strings.HasPrefix(r.RequestURI, "/") {
		m.Path, m.Query, _ = strings.Cut(r.RequestURI, "?")
	}
	m.Scheme = v.scheme
	if m.Scheme == "" {
		m.Scheme = "http"
		if r.TLS != nil {
			m.Scheme = "https"
		}
	}
	m.Authority = messagesig.Authority(m.Scheme, r.Host)
	if v.authority != "" && m.Authority != v.authority && loopbackName(r.Host) {
		m.Authority = v.authority
	}
	return m
}

// loopbackName reports whether a Host is a name of this machine alone.
func loopbackName(hostport string) bool {
	host := hostport
	if u, err := url.Parse("//" + hostport); err == nil {
		host = u.Hostname()
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// key returns the key of an agent that has this thumbprint.
func (v *Verifier) key(ctx context.Context, agent *known, thumbprint string) (Key, finding) {
	if _, ok := decode(thumbprint); !ok {
		return Key{}, unverified("key-unknown")
	}
	if published[thumbprint] && !v.anyKey {
		return Key{}, invalid("key-published")
	}
	key, ok := agent.pinned[thumbprint]
	if !ok && agent.directory != nil {
		var err error
		if key, ok, err = agent.directory.find(ctx, thumbprint); err != nil {
			return Key{}, unverified("directory-unreachable")
		}
	}
	switch {
	case !ok:
		return Key{}, unverified("key-unknown")
	case !key.holds(v.now()):
		return Key{}, invalid("key-expired")
	}
	return key, finding{}
}
