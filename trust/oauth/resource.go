package oauth

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// wellKnown is where metadata stands: between a resource's host and its path
// (RFC 9728, section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// resource is a protected endpoint, ready for requests.
type resource struct {
	Resource
	origin   string // scheme and host
	host     string
	path     string // without a slash at its end; "" for the whole host
	metadata string // the absolute URL of the metadata
	document *document
}

// newResources orders resources so that the first one that covers a path is the
// longest.
func newResources(o *Options) []*resource {
	list := make([]*resource, len(o.Resources))
	for i, r := range o.Resources {
		r.Audiences, r.Scopes, r.MoreScopes = slices.Clone(r.Audiences), slices.Clone(r.Scopes), slices.Clone(r.MoreScopes)
		u, _ := url.Parse(r.URL) // which was checked
		made := &resource{Resource: r, origin: u.Scheme + "://" + u.Host, host: u.Host, path: u.Path}
		made.metadata = made.origin + wellKnown + made.path
		made.document = newDocument(made, o.Issuers)
		list[i] = made
	}
	slices.SortStableFunc(list, func(a, b *resource) int { return cmp.Compare(len(b.path), len(a.path)) })
	return list
}

// covers reports whether a path is the resource's or below it.
func (r *resource) covers(path string) bool {
	rest, ok := strings.CutPrefix(path, r.path)
	return ok && (rest == "" || rest[0] == '/')
}

// resourceAt finds the resource of a request on a host. Resources of several
// hosts may have one path; a host that none of them names is a proxy's, and the
// first will do.
func (a *Authenticator) resourceAt(host, path string) *resource {
	var found *resource
	for _, r := range a.resources {
		switch {
		case !r.covers(path):
		case strings.EqualFold(canonicalHost(r.scheme(), host), r.host):
			return r
		case found == nil:
			found = r
		}
	}
	return found
}

func (r *resource) scheme() string {
	scheme, _, _ := strings.Cut(r.origin, ":")
	return scheme
}
