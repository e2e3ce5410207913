package trust

import (
	"context"
	"maps"
	"net/http"
)

// WithoutCookies returns a request as it is without its cookies: a browser adds
// them by itself, so that they say nothing about who wants a call. A surface whose
// callers are programs gives a [Guard] what is returned, and no authenticator and
// no handler finds them. The verifier of agents alone does, because their
// signatures cover the request as it was sent. The request that is given keeps
// them; without any, it is returned.
func WithoutCookies(r *http.Request) *http.Request {
	if len(r.Header["Cookie"]) == 0 {
		return r
	}
	plain := r.WithContext(context.WithValue(r.Context(), sent{}, r))
	plain.Header = maps.Clone(r.Header)
	delete(plain.Header, "Cookie")
	return plain
}

// sent is the key of the request that had cookies.
type sent struct{}

// asSent returns the request that a caller has sent, cookies included.
func asSent(r *http.Request) *http.Request {
	if whole, ok := r.Context().Value(sent{}).(*http.Request); ok {
		return whole
	}
	return r
}
