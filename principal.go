package ambit

import (
	"maps"
	"slices"
	"time"

	"github.com/ambit-dev/ambit/internal/principalkey"
)

// Kind says what sort of caller a principal is.
type Kind uint8

// The kinds of principal. The zero Kind is a person.
const (
	// KindUser is a person.
	KindUser Kind = iota
	// KindService is a program that acts for itself.
	KindService
	// KindAgent is a program that a model steers.
	KindAgent
	// KindAnonymous is a caller who has shown no credential. It has no
	// subject and holds only what the policy gives it.
	KindAnonymous
)

var kindNames = [...]string{"user", "service", "agent", "anonymous"}

// String returns the kind's name in lower case, or "invalid".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "invalid"
	}
	return kindNames[k]
}

// MarshalText writes the name that String returns.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Principal is who is calling. Authenticators make it, the application's
// [Policy] judges it, handlers read it through [Call.Principal]. It is not
// changed once a run has it.
type Principal struct {
	// Authority is who vouches for the subject: an issuer's URL, "apikey",
	// "stdio", or the authenticator's own name.
	Authority string
	// Subject is the caller's name within tenant and authority. Required for
	// every kind but KindAnonymous, which has none.
	Subject string
	// Kind is the sort of caller; the zero value is KindUser.
	Kind Kind
	// Tenant is the customer the caller belongs to: at most 255 bytes of text
	// without control characters, or there is no run. The empty tenant is a tenant
	// of its own and never means all of them.
	Tenant string
	// Client is the program that the credential was given to, such as the client
	// id of OAuth. It is no part of the key. Empty: the credential names none.
	Client string
	// Permissions are what the principal holds where the application has no
	// Policy of its own; a Policy may use or ignore them.
	Permissions []string
	// Roles are for the application's Policy; Ambit gives them no meaning.
	Roles []string
	// Scopes are what the credential was limited to. They attenuate and never
	// grant. An empty list is a list: a capability that needs scopes is
	// refused.
	Scopes []string
	// Unscoped says that the credential carries no list of scopes at all, so
	// that permission alone decides.
	Unscoped bool
	// Behind are the keys ([Principal.Key]) of the persons who stand behind the
	// principal: the user on whose behalf an agent acts, the owner of an API key,
	// whoever granted it. Who shares one of them with a requester has no part in
	// a decision that takes another pair of eyes. Empty: nobody else.
	Behind []string
	// Expires is when the credential ends; no call is made after it. Zero:
	// never.
	Expires time.Time
	// Claims are what the credential said, for the application's use.
	Claims map[string]any
	// Value is the application's own object for this caller.
	Value any
}

// Key returns the principal's identity in every store, limit and record: an
// injective encoding of tenant, authority and subject. Two principals with one
// key are the same caller. It has the form
//
//	LEN:TENANT/LEN:AUTHORITY/SUBJECT
//
// where each LEN is the number of bytes of what follows it, in decimal:
// "0:/5:stdio/editor" is the subject "editor" of the authority "stdio" in the
// empty tenant, and "4:acme/6:apikey/robot" is one in the tenant "acme".
func (p *Principal) Key() string {
	return principalkey.Of(p.Tenant, p.Authority, p.Subject)
}

// isKey reports whether a text is the key of a principal that can exist.
func isKey(text string) bool {
	_, authority, subject, ok := principalkey.Split(text)
	return ok && (subject != "" || authority == "") // an anonymous principal has neither
}

// Anonymous reports whether the principal has shown no credential.
func (p *Principal) Anonymous() bool { return p.Kind == KindAnonymous }

// clone returns a copy that shares no list or map with p. Value is shared: it
// is the application's.
func (p *Principal) clone() *Principal {
	c := *p
	c.Permissions = slices.Clone(p.Permissions)
	c.Roles = slices.Clone(p.Roles)
	c.Behind = slices.Clone(p.Behind)
	c.Scopes = slices.Clone(p.Scopes)
	c.Claims = maps.Clone(p.Claims)
	return &c
}

// fault says in one sentence why a run may not exist for this principal, or
// nothing.
func (p *Principal) fault() string {
	switch {
	case p == nil:
		return "no principal was given; anonymous callers are a principal of KindAnonymous"
	case int(p.Kind) >= len(kindNames):
		return "the principal's kind is not one of user, service, agent, anonymous"
	case p.Anonymous() && (p.Subject != "" || p.Authority != "" || len(p.Permissions) > 0 || len(p.Roles) > 0):
		return "an anonymous principal has no subject, authority, permissions or roles"
	case !p.Anonymous() && p.Subject == "":
		return "the principal has no subject"
	}
	if fault := principalkey.TenantFault(p.Tenant); fault != "" {
		return "the principal's tenant " + fault
	}
	return ""
}
