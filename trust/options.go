package trust

import "github.com/ambit-dev/ambit"

// Options say who may come in. One value configures every HTTP surface of an
// application. The zero value serves anonymous callers on the machine itself
// and nobody else.
type Options struct {
	// Authenticators are asked in order about each request. Empty: every
	// caller is anonymous.
	Authenticators []Authenticator
	// Agents verifies which agent carries a request. Nil: none is known, and
	// what requires an agent is refused.
	Agents AgentVerifier
	// Hosts are the names and addresses that the Host header may have, without
	// port; any port will do. Empty: localhost, 127.0.0.1 and [::1].
	Hosts []string
	// PublicURL is where the application is reached from outside, as in
	// "https://notes.example.com". Its host is served beside Hosts, and its
	// origin is the application's own. Empty: not known.
	PublicURL string
	// Origins are the origins of other web pages that may send requests, as in
	// "https://app.example.com". Empty: none.
	Origins []string
	// ListedOrigins holds browsers to Origins and the application's own origin
	// whatever credential they send. Surfaces that are not for pages set it in
	// their own copy. False: a request with an Authorization header may come
	// from any page, because no page can make a browser add one by itself,
	// unless its scheme is one for which browsers keep credentials and send them
	// again: Basic, Digest, Negotiate and NTLM.
	ListedOrigins bool
	// AllowUnauthenticated serves anonymous callers from other machines where
	// there are no Authenticators. It does not lift the rule of development
	// mode.
	AllowUnauthenticated bool
	// Proxies are the addresses and networks of the proxies in front of the
	// application, as in "10.0.0.7" or "10.0.0.0/24". A connection from one of
	// them may say in ProxyHeader whose request it passes on, which is whose
	// refusals are counted and who stands in the log. The last address that is none
	// of Proxies' is the sender's. What does not hold together counts for the
	// proxy's own address. Scheme and host are never taken from a header, see
	// PublicURL. Empty: every sender is who the connection comes from.
	Proxies []string
	// ProxyHeader is the header to which all of Proxies add whose request they
	// pass on, or which they set: "X-Forwarded-For", or "Forwarded" (RFC 7239). No
	// other is read, since a proxy passes on what its senders have written there.
	// Required with Proxies.
	ProxyHeader string
	// ProxyCertificates says that all of Proxies set Client-Cert (RFC 9440) to the
	// certificate that the sender has shown to them, and remove what the sender has
	// put there: with it, [ClientCertificate] believes that header. A proxy that
	// passes it on, as most do unless told otherwise, would let everybody show the
	// certificate of anybody. False: who comes through a proxy has shown none.
	ProxyCertificates bool
	// Refusals is how often requests of one address may be refused for a
	// credential that is missing or does not hold. Those that are being judged
	// count until they are found good. Beyond it, every request of the address is
	// CodeRateLimited before any authenticator is asked. As often it may be refused
	// for a foreign Host or Origin, which counts apart, since any page can have its
	// visitors' browsers send such requests. An address is that of the sender, see
	// Proxies, the /64 of it for IPv6; each surface counts for itself. Zero: 300 a
	// minute, and 6,000 for addresses of this machine and of private networks, since
	// these often are those of a proxy that Proxies lacks. Behind one with a public
	// address, all senders share it.
	Refusals ambit.Rate
}

// The refusals that one address may have in a minute unless [Options.Refusals]
// says otherwise: a public one, and one of this machine or of a private network.
const (
	DefaultRefusals     = 300
	DefaultNearRefusals = 6000
)
