package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit/internal/outbound"
	"github.com/ambit-dev/ambit/internal/principalkey"
)

// algorithms are those that anybody can check and only the owner of a key can
// make (RFC 7518, section 3.1; RFC 8037).
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// minNonceKey is how many bytes a key for nonces has at least.
const minNonceKey = 32

// check returns all that is wrong with the options.
func (o *Options) check(out *outbound.Options) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("oauth: "+format, args...)) }
	if len(o.Resources) == 0 {
		fault("Options.Resources is empty: list the endpoints that take tokens")
	}
	if len(o.Issuers) == 0 {
		fault("Options.Issuers is empty: list the authorization servers whose tokens are taken")
	}
	seen := map[string]bool{}
	for i := range o.Resources {
		r := &o.Resources[i]
		for _, text := range r.faults() {
			fault("Options.Resources[%d] (%q): %s", i, r.URL, text)
		}
		if seen[r.URL] {
			fault("Options.Resources has %q twice", r.URL)
		}
		seen[r.URL] = true
	}
	introspecting := 0
	for i := range o.Issuers {
		s := &o.Issuers[i]
		for _, text := range s.faults(out) {
			fault("Options.Issuers[%d] (%q): %s", i, s.URL, text)
		}
		if seen["issuer "+s.URL] {
			fault("Options.Issuers has %q twice", s.URL)
		}
		seen["issuer "+s.URL] = true
		if s.Introspect {
			introspecting++
		}
	}
	if introspecting > 1 {
		fault("Options.Issuers has %d that Introspect: a token does not say which to ask, so leave one", introspecting)
	}
	if o.Verify != nil && introspecting > 0 {
		fault("Options.Verify and an issuer's Introspect exclude each other: choose one")
	}
	if o.Verify != nil && o.Principal != nil {
		fault("Options.Verify and Options.Principal exclude each other: Verify returns the principal")
	}
	for _, alias := range o.Aliases {
		if u, err := url.Parse("http://" + alias); err != nil || u.Host != alias || alias == "" || strings.ToLower(alias) != alias {
			fault("Options.Aliases holds %q: give a host in lower case, with its port where it has one", alias)
		}
	}
	o.checkInstances(fault)
	return errors.Join(faults...)
}

// checkInstances finds what cannot be shared between several processes.
func (o *Options) checkInstances(fault func(string, ...any)) {
	proofs, nonces := false, false
	for i := range o.Resources {
		proofs = proofs || o.Resources[i].DPoP != BindingRefused
		nonces = nonces || o.Resources[i].DPoPNonces
	}
	switch {
	case o.Instances < 0:
		fault("Options.Instances is negative: leave it zero for one")
	case o.Instances > 1 && proofs && o.Replays == nil:
		fault("Options.Instances is %d, and Options.Replays is not set: a DPoP proof could be used once on each. Give Replays that the instances share, or set DPoP of every resource to BindingRefused", o.Instances)
	}
	switch {
	case len(o.NonceKey) > 0 && len(o.NonceKey) < minNonceKey:
		fault("Options.NonceKey has %d bytes: give at least %d random ones", len(o.NonceKey), minNonceKey)
	case o.Instances > 1 && nonces && len(o.NonceKey) == 0:
		fault("Options.Instances is %d, and Options.NonceKey is not set: one instance would refuse the nonces of another", o.Instances)
	}
}

func (r *Resource) faults() (faults []string) {
	if text := resourceFault(r.URL); text != "" {
		faults = append(faults, "URL "+text)
	}
	if len(r.Audiences) == 0 {
		faults = append(faults, "Audiences is empty: list what aud of a token for this endpoint holds, usually the URL itself")
	}
	if slices.Contains(r.Audiences, "") {
		faults = append(faults, "Audiences holds an empty text")
	}
	if text := scopesFault(append(slices.Clone(r.Scopes), r.MoreScopes...)); text != "" {
		faults = append(faults, "Scopes or MoreScopes: "+text)
	}
	if r.Documentation != "" {
		if u, err := url.Parse(r.Documentation); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, "Documentation is no http or https URL")
		}
	}
	switch {
	case r.DPoP > BindingRefused:
		faults = append(faults, "DPoP is none of the bindings")
	case r.MTLS > BindingRefused:
		faults = append(faults, "MTLS is none of the bindings")
	case r.DPoPNonces && r.DPoP == BindingRefused:
		faults = append(faults, "DPoPNonces is set, and DPoP is refused: choose one")
	}
	return faults
}

// resourceFault says what is wrong with a resource identifier.
func resourceFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Hostname() == "":
		return "is not absolute: begin it with https:// and the host"
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return "is not https, which only endpoints on this machine may do without"
	case u.User != nil:
		return "holds a user"
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "has a query or a fragment: leave them out"
	case strings.Contains(u.EscapedPath(), "%"):
		return "has an escaped path: use letters, digits and -._~"
	case u.Path != "" && path.Clean(u.Path) != u.Path, u.Path == "/":
		return "has a path that is not clean: leave out a trailing slash, empty segments and dots"
	}
	if canonical := u.Scheme + "://" + canonicalHost(u.Scheme, u.Host) + u.Path; canonical != text {
		return fmt.Sprintf("is not in its canonical form, which is %q", canonical)
	}
	return ""
}

// canonicalHost is in lower case and without the scheme's own port (RFC 3986,
// section 6.2.3).
func canonicalHost(scheme, host string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// loopback reports whether a host, without port, is this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

func (s *Issuer) faults(out *outbound.Options) (faults []string) {
	for _, at := range [...]struct{ name, url string }{
		{"URL", s.URL}, {"Keys", s.Keys}, {"IntrospectionURL", s.IntrospectionURL}, {"TokenURL", s.TokenURL},
	} {
		if at.url == "" && at.name != "URL" {
			continue
		}
		if text := fetchFault(out, at.url); text != "" {
			faults = append(faults, at.name+" "+text)
		}
	}
	if u, err := url.Parse(s.URL); err == nil && (u.RawQuery != "" || u.ForceQuery || strings.Contains(s.URL, "#")) {
		faults = append(faults, "URL has a query or a fragment (RFC 8414, section 2)")
	}
	for _, algorithm := range s.Algorithms {
		if !slices.Contains(algorithms, algorithm) {
			faults = append(faults, fmt.Sprintf("Algorithms holds %q: use some of %s", algorithm, strings.Join(algorithms, ", ")))
		}
	}
	for _, tenant := range s.Tenants {
		if fault := principalkey.TenantFault(tenant); fault != "" {
			faults = append(faults, fmt.Sprintf("Tenants holds %.40q, which %s", tenant, fault))
		}
	}
	if s.Introspect && s.Client.ID == "" {
		faults = append(faults, "Introspect is set, and Client.ID is empty: say what this server is registered as")
	}
	if s.IntrospectionURL != "" && !s.Introspect {
		faults = append(faults, "IntrospectionURL is given, and Introspect is not set")
	}
	if s.TokenURL != "" && s.Client.ID == "" {
		faults = append(faults, "TokenURL is given, and Client.ID is empty")
	}
	if s.Client.ID == "" && s.Client.Secret != "" {
		faults = append(faults, "Client has a secret and no ID")
	}
	if s.Introspect && s.Keys != "" {
		faults = append(faults, "Keys is given, and Introspect is set: with introspection no key is used")
	}
	return faults
}

// fetchFault says why a URL of an issuer cannot be fetched.
func fetchFault(out *outbound.Options, text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "is no URL"
	}
	if err := out.Check(u); err != nil {
		return "cannot be reached: " + strings.TrimPrefix(err.Error(), "outbound: ") +
			" (Options.Networks lists private networks; Options.Loopback is for development on this machine)"
	}
	return ""
}

// scopesFault says what is wrong with a list of scopes (RFC 6749, section 3.3).
func scopesFault(scopes []string) string {
	for _, scope := range scopes {
		if scope == "" {
			return "a scope is empty"
		}
		for i := range len(scope) {
			if c := scope[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
				return fmt.Sprintf("%q is no scope: a scope is visible ASCII without quote and backslash", scope)
			}
		}
	}
	return ""
}
