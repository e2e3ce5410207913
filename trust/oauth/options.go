package oauth

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/ambit-dev/ambit"
)

// Options say which endpoints take access tokens, and whose. [New] checks them.
type Options struct {
	// Resources are the endpoints that tokens are for: at least one. A request
	// belongs to the longest that covers its path, and a token at any other path
	// is refused.
	Resources []Resource
	// Issuers are the authorization servers whose tokens are taken: at least
	// one. All of them serve all resources. What two of them say of one subject
	// concerns two principals.
	Issuers []Issuer
	// Verify is the application's own check of a token, made instead of the
	// issuers' keys and introspection. It returns who presents the token, whose
	// Authority must be the URL of one of Issuers and may be empty where there is
	// one. It answers for signature, audience and expiry itself; tenants, scopes
	// of the endpoint and the binding to a sender (a member "cnf" of the
	// principal's Claims) are checked after it. An error, nil, a principal without
	// subject and a panic refuse the token, and only the log says why; an
	// [*ambit.Error] of CodeUnavailable is 503. It is asked for every request and
	// must be safe for concurrent use. Nil: tokens are checked here.
	Verify func(ctx context.Context, token string, r Request) (*ambit.Principal, error)
	// Principal makes the caller from what a token says. It is asked when a token
	// is new and at least once a minute after that, and not for tokens that Verify
	// has checked. Authority and Expires are set afterwards, and a tenant that the
	// issuer does not list refuses the token, as does an error. Nil:
	// [Claims.Principal], which gives no permission.
	Principal func(ctx context.Context, claims *Claims) (*ambit.Principal, error)
	// Aliases are other hosts, with their ports, that the resources can be reached
	// by, as in "www.notes.example.com". Requests to them are redirected to the
	// resource's own. Names and addresses of this machine are aliases of each
	// other without being listed.
	Aliases []string
	// Replays remembers which DPoP proofs have been seen. Nil: a memory of this
	// process, which serves one instance.
	Replays Replays
	// Instances is how many processes serve these resources. Zero: one. With
	// more, New wants Replays that they share, unless all resources refuse DPoP,
	// and a NonceKey where DPoP nonces are used.
	Instances int
	// NonceKey seals DPoP nonces: at least 32 random bytes, the same on all
	// instances. Nil: random, for one instance.
	NonceKey []byte
	// Networks are networks that are not public where issuers may be reached.
	// Nil: none.
	Networks []netip.Prefix
	// Loopback lets issuers be on this machine, without TLS: for development and
	// tests.
	Loopback bool
	// Roots are the certificates that issuers' are checked against. Nil: those of
	// the system.
	Roots *x509.CertPool
	// Logger takes what operators should know about issuers that cannot be
	// reached. It never gets a token. Nil: slog.Default().
	Logger *slog.Logger
}

// Resource is one protected endpoint: a path and all below it.
type Resource struct {
	// URL is the resource's identifier (RFC 8707, section 2; RFC 9728, section
	// 1.2): what clients call, to the byte. It is https, or http on this machine,
	// in lower case as far as case does not matter, without default port,
	// trailing slash, query and fragment, as in "https://notes.example.com/mcp".
	URL string
	// Audiences are the values of which a token's aud must hold one: at least
	// one. Issuers that follow RFC 8707 put URL there; others a name that was
	// configured for the API.
	Audiences []string
	// Scopes are what every token needs at this endpoint, whatever is called.
	// Nil: none.
	Scopes []string
	// MoreScopes are published beside Scopes as those that clients may ask for.
	// Nil: none.
	MoreScopes []string
	// Name is the endpoint's name for people. Empty: none.
	Name string
	// Documentation is the URL of a page for developers. Empty: none.
	Documentation string
	// DPoP says whether tokens are bound to a key that the sender proves with
	// each request (RFC 9449). Zero: tokens that say so are.
	DPoP Binding
	// DPoPNonces makes senders put a nonce of this server into each proof (RFC
	// 9449, section 9), so that none can be made in advance.
	DPoPNonces bool
	// MTLS says whether tokens are bound to the sender's client certificate (RFC
	// 8705, section 3). Zero: tokens that say so are.
	MTLS Binding
}

// Binding says what a resource wants of tokens that only their owner can use.
type Binding uint8

// The bindings.
const (
	// BindingOptional takes bound tokens with their proof, and others without.
	BindingOptional Binding = iota
	// BindingRequired takes bound tokens only.
	BindingRequired
	// BindingRefused takes no tokens that are bound in this way.
	BindingRefused
)

// Issuer is one authorization server.
type Issuer struct {
	// URL is the issuer's identifier, exactly as its tokens have it in iss. It is
	// the authority of every principal that the issuer's tokens stand for.
	URL string
	// Keys is the URL of the issuer's JWK Set. Empty: found in the issuer's
	// metadata (RFC 8414, or OpenID Connect Discovery).
	Keys string
	// Algorithms are those that tokens may be signed with, as in "ES256"; only
	// asymmetric ones are allowed. Nil: all of RS, PS and ES with 256, 384 and 512,
	// and EdDSA.
	Algorithms []string
	// AcceptJWT takes tokens whose typ is JWT or missing beside at+jwt (RFC 9068),
	// for issuers that follow no profile. ID tokens are refused as far as they can
	// be told apart, so see to it that Audiences holds no client's id.
	AcceptJWT bool
	// Tenants are those that the issuer may speak for. Nil: the empty one alone.
	// An empty text in the list is the empty tenant.
	Tenants []string
	// TenantClaim names the claim that holds the tenant. Empty: tokens name none,
	// which is the empty tenant.
	TenantClaim string
	// RolesClaim names the claim that holds the roles. Empty: "roles".
	RolesClaim string
	// Client is what this server is registered as at the issuer. Required for
	// Introspect and for [Exchange].
	Client Client
	// Introspect has the issuer say whether a token holds (RFC 7662), instead of
	// checking signatures: for tokens that are no JWT, and for those that are
	// revoked before their time. Of all issuers one may have it, since a token
	// does not say whose it is.
	Introspect bool
	// IntrospectionURL is where to ask. Empty: from the metadata.
	IntrospectionURL string
	// TokenURL is where [Exchange] obtains tokens. Empty: from the metadata.
	TokenURL string
}

// Client is what identifies this server to an issuer (RFC 6749, section 2.3.1).
type Client struct {
	// ID is the client id.
	ID string
	// Secret is the client's secret. It is sent by HTTP Basic authentication.
	Secret string
}

// LogValue shows the id alone.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.ID) }

// String shows the id alone.
func (c Client) String() string { return c.ID }

// GoString shows the id alone.
func (c Client) GoString() string { return c.ID }

// Request is what [Options.Verify] learns about the request that a token came
// with. All of it is a copy.
type Request struct {
	// Method and Path are the request's.
	Method, Path string
	// Header is the request's without Authorization, DPoP and Cookie.
	Header http.Header
	// Body is the body, nil where there is none or it is TooLong.
	Body []byte
	// TooLong says that the body has more than 64 KiB, and was not read.
	TooLong bool
}
