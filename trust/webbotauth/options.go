package webbotauth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/internal/outbound"
)

// How long signatures may live unless [Options] say otherwise, and how far ahead
// of this machine's clock they may have been made.
const (
	DefaultLifetime      = 24 * time.Hour
	DefaultBoundLifetime = 5 * time.Minute

	skew = 30 * time.Second
)

// Options say which agents are known and how far their signatures go.
type Options struct {
	// Agents are the agents that the application knows. Nobody else is
	// verified, and nothing is fetched for anybody else. Required.
	Agents []Agent
	// PublicURL is where the application is reached from outside, as in
	// trust.Options: its scheme and host are what signatures have to name, for
	// requests whose Host is that host or a loopback name, as behind a proxy on
	// the same machine. A request with another Host has to be signed for that.
	// Headers that a proxy adds are not looked at. Empty: the connection's
	// scheme and the request's own Host, which is not enough behind a proxy that
	// ends TLS.
	PublicURL string
	// Lifetime is the most that may lie between the times when a signature was
	// made and when it ends. Zero: 24 h.
	Lifetime time.Duration
	// BoundLifetime is the same for what is to reach ambit.AgentRequest and
	// ambit.AgentOnce. It bounds how long a nonce is kept. Zero: 5 min.
	BoundLifetime time.Duration
	// Nonces remembers which nonces were used. Nil: in the memory of this
	// process, see [NewMemory].
	Nonces Nonces
	// Instances is how many processes serve the application. With more than one,
	// nonces in memory would let a request through once on each of them: an
	// application with a capability that requires ambit.AgentOnce does not start
	// then. Zero: one.
	Instances int
	// Networks are networks that directories may be fetched from although they
	// are not public. Empty: none.
	Networks []netip.Prefix
	// Loopback lets directories be fetched from this machine, over any port. It
	// is for development and tests.
	Loopback bool
	// Roots are the certificates that directories' servers are checked against.
	// Nil: those of the system.
	Roots *x509.CertPool
	// Logger gets what the operator should know: directories that cannot be
	// fetched, and a record of nonces that does not answer. Nil: slog.Default.
	Logger *slog.Logger
}

func (o *Options) complete() error {
	if o.Lifetime < 0 || o.BoundLifetime < 0 || o.Instances < 0 {
		return errors.New("webbotauth: Options.Lifetime, BoundLifetime or Instances is negative: leave it zero for the default")
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.BoundLifetime == 0 {
		o.BoundLifetime = min(DefaultBoundLifetime, o.Lifetime)
	}
	if o.BoundLifetime > o.Lifetime {
		return errors.New("webbotauth: Options.BoundLifetime is longer than Options.Lifetime")
	}
	if o.Nonces == nil {
		o.Nonces = NewMemory(0)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

// public returns the scheme and the authority of the public URL, empty where it
// is not known.
func (o *Options) public() (scheme, authority string, err error) {
	if o.PublicURL == "" {
		return "", "", nil
	}
	u, err := url.Parse(o.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("webbotauth: Options.PublicURL is %q: give an http or https URL without user, query and fragment", o.PublicURL)
	}
	return u.Scheme, messagesig.Authority(u.Scheme, u.Host), nil
}

// outbound returns where the directory of an agent may be fetched.
func (o *Options) outbound(fetched *url.URL) outbound.Options {
	rules := outbound.Options{Networks: o.Networks, Loopback: o.Loopback, Roots: o.Roots}
	if port := outbound.PortOf(fetched); port != 0 {
		rules.Ports = []int{port}
	}
	return rules
}
