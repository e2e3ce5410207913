package oauth

import (
	"net/http"
	"net/url"
	"strings"
)

// Front implements [trust.Fronter]: it returns what answers a request for the
// metadata of a resource, or for a resource under another spelling, and nil for
// any other request. The answers depend on nothing but host and path, and no
// token is read for them.
func (a *Authenticator) Front(r *http.Request) http.Handler {
	if r.URL.RawPath != "" {
		return nil
	}
	if path, ok := strings.CutPrefix(r.URL.Path, wellKnown); ok {
		return a.documentAt(r.Host, path)
	}
	at := a.resourceAt(r.Host, r.URL.Path)
	if at == nil {
		return nil
	}
	path := r.URL.Path
	if at.path != "" && path == at.path+"/" {
		path = at.path
	}
	if path == r.URL.Path && !a.alias(at, r.Host) {
		return nil
	}
	return moved(at.origin+(&url.URL{Path: path}).EscapedPath(), r.URL.RawQuery)
}

// documentAt finds the metadata for a path, which must be a resource's own.
func (a *Authenticator) documentAt(host, path string) http.Handler {
	at := a.resourceAt(host, path)
	switch {
	case at == nil:
		return nil
	case path == at.path:
		return at.document
	case path == at.path+"/":
		return moved(at.metadata, "")
	}
	return nil
}

// alias reports whether a host is another name for a resource's. Any other host is
// that which a proxy uses within, and sending its clients elsewhere would have
// them come back for ever.
func (a *Authenticator) alias(at *resource, host string) bool {
	host = canonicalHost(at.scheme(), host)
	if host == at.host {
		return false
	}
	if a.aliases[host] {
		return true
	}
	mine, here := &url.URL{Host: host}, &url.URL{Host: at.host}
	return mine.Port() == here.Port() && loopback(mine.Hostname()) && loopback(here.Hostname())
}

// moved redirects with method and body (RFC 9110, section 15.4.9).
func moved(to, query string) http.Handler {
	if query != "" {
		to += "?" + query
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
