package trust

import "github.com/ambit-dev/ambit"

// Identity is what a request said about its sender, verified. It must not be
// changed once it has been returned, so that an authenticator may give out one
// value many times.
type Identity struct {
	// Principal is who is calling. Required, with a subject.
	Principal *ambit.Principal
	// Ambient says that the credential did not come in the Authorization
	// header but in something that a browser sends by itself: a cookie, a
	// client certificate. A request with an Authorization header that only an
	// ambient identity stands behind is refused, because nobody has verified
	// that header.
	Ambient bool
	// Signed is what was found out about the signature of the agent that carries
	// the request. The guard sets it, in a copy of what an authenticator returned.
	// Nil: there is none.
	Signed *SignedRequest
}

// Anonymous reports whether the sender has shown no credential. It is true for
// nil and for an identity without a principal.
func (i *Identity) Anonymous() bool { return i == nil || i.Principal == nil || i.Principal.Anonymous() }
