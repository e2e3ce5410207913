package trust

import (
	"net/http"
)

// Fronter is what an [Authenticator] implements that answers some requests itself,
// before any credential is looked at: for documents that a client needs in order to
// obtain one, say.
type Fronter interface {
	// Front returns what answers a request that is the authenticator's own, and
	// nil for every other request. It must not read the request's body or depend
	// on its credential.
	Front(r *http.Request) http.Handler
}

// Front puts what the authenticators answer themselves (see [Fronter]) in front of
// a handler, for requests to a host of the allow list. Package serve does so; it is
// for surfaces on a mux of one's own, where it has to stand before anything that
// takes every path.
func Front(o Options, next http.Handler) (http.Handler, error) {
	var fronters []Fronter
	for _, a := range o.Authenticators {
		if f, ok := a.(Fronter); ok {
			fronters = append(fronters, f)
		}
	}
	if len(fronters) == 0 {
		return next, nil
	}
	public, err := publicURL(o.PublicURL)
	if err != nil {
		return nil, err
	}
	hosts, err := newHosts(o, public)
	if err != nil {
		return nil, err
	}
	return &front{hosts: hosts, fronters: fronters, next: next}, nil
}

// front asks authenticators whether a request is theirs.
type front struct {
	hosts    hosts
	fronters []Fronter
	next     http.Handler
}

// ServeHTTP answers one request.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, fronter := range f.fronters {
		own := fronter.Front(r)
		switch {
		case own == nil:
			continue
		case !f.hosts.allow(r.Host):
			w.WriteHeader(http.StatusForbidden)
		default:
			own.ServeHTTP(w, r)
		}
		return
	}
	f.next.ServeHTTP(w, r)
}
