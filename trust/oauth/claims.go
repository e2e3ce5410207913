package oauth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// Claims are what a token that holds says (RFC 9068, section 2.2; RFC 7662,
// section 2.2), for [Options.Principal]. They must not be changed.
type Claims struct {
	// Issuer is the issuer's URL.
	Issuer string
	// Subject is sub. It may be empty, which no principal's may.
	Subject string
	// Client is client_id, or azp where there is none.
	Client string
	// Scopes are those of scope or scp, a text with spaces or a list. Empty where
	// the token has neither.
	Scopes []string
	// Roles are those of [Issuer.RolesClaim].
	Roles []string
	// Tenant is that of [Issuer.TenantClaim].
	Tenant string
	// Expires is exp. Zero only where introspection names none.
	Expires time.Time
	// All are all claims, numbers as float64.
	All map[string]any
}

// Principal is the default of [Options.Principal]: a principal with subject, client,
// scopes, roles, tenant and claims of the token, and without any permission, which
// the application's policy gives. It is a service where the subject is the client
// itself, else a user. A token without scopes gets an empty list, so that it
// reaches nothing that needs one.
func (c *Claims) Principal() *ambit.Principal {
	kind := ambit.KindUser
	if c.Subject != "" && c.Subject == c.Client {
		kind = ambit.KindService
	}
	return &ambit.Principal{
		Subject: c.Subject, Kind: kind, Tenant: c.Tenant, Client: c.Client,
		Roles: slices.Clone(c.Roles), Scopes: append([]string{}, c.Scopes...), Claims: c.All,
	}
}

// read takes what is used here out of a token's claims, and checks its form.
func read(from *issuer, all map[string]any) (*Claims, error) {
	c := &Claims{Issuer: from.URL, Subject: text(all, "sub"), Client: text(all, "client_id"), All: all}
	if c.Client == "" {
		c.Client = text(all, "azp")
	}
	name := "scope"
	if _, ok := all[name]; !ok {
		name = "scp"
	}
	var ok bool
	if c.Scopes, ok = list(all[name]); !ok {
		return nil, fmt.Errorf("the claim %s is no list of scopes", name)
	}
	if c.Roles, ok = list(all[from.RolesClaim]); !ok {
		return nil, fmt.Errorf("the claim %s is no list of roles", from.RolesClaim)
	}
	if value, ok := all[from.TenantClaim]; ok && from.TenantClaim != "" {
		if c.Tenant, ok = value.(string); !ok {
			return nil, fmt.Errorf("the claim %s is no text", from.TenantClaim)
		}
	}
	return c, nil
}

// list reads a text with spaces between its entries, or a list of texts. Nil is
// an empty list.
func list(value any) ([]string, bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		return strings.Fields(value), true
	case []any:
		texts := make([]string, len(value))
		for i, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			texts[i] = text
		}
		return texts, true
	}
	return nil, false
}

// audience reads aud, which must be there (RFC 7519, section 4.1.3).
func audience(all map[string]any) ([]string, error) {
	switch value := all["aud"].(type) {
	case string:
		if value != "" {
			return []string{value}, nil
		}
	case []any:
		if texts, ok := list(value); ok && len(texts) > 0 {
			return texts, nil
		}
	}
	return nil, errors.New("the token has no audience")
}

// identify checks what the application's code made of a token, and returns the
// identity.
func (s *issuer) identify(p *ambit.Principal, expires time.Time) (trust.Identity, error) {
	switch {
	case p == nil:
		return trust.Identity{}, errors.New("the token stands for no principal")
	case p.Subject == "":
		return trust.Identity{}, errors.New("the token stands for a principal without subject")
	case p.Kind >= ambit.KindAnonymous:
		return trust.Identity{}, errors.New("the token stands for a principal that is no user, service or agent")
	case p.Authority != "" && p.Authority != s.URL:
		return trust.Identity{}, fmt.Errorf("the principal's authority is %q and not the issuer", p.Authority)
	case !s.tenants[p.Tenant]:
		return trust.Identity{}, fmt.Errorf("the issuer may not speak for the tenant %q", p.Tenant)
	}
	own := *p
	own.Authority = s.URL
	if !expires.IsZero() && (own.Expires.IsZero() || expires.Before(own.Expires)) {
		own.Expires = expires
	}
	return trust.Identity{Principal: &own}, nil
}
