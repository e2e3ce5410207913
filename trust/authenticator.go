package trust

import (
	"context"
	"net/http"
)

// Authenticator verifies one kind of credential. It must be safe for concurrent
// use and must not read the request's body.
type Authenticator interface {
	// Name is the authenticator's name in logs, as in "apikey". It is unique
	// among those of one application.
	Name() string
	// Authenticate returns who sent the request. Nil and no error: the request
	// carries no credential of this kind. An error: it carries one that is not
	// valid; the text goes to the operator's log and never to the sender. An
	// [*ambit.Error] of CodeUnavailable (nobody can tell whether it is valid),
	// CodeInvalidInput (the request breaks the credential's rules) or
	// CodeInsufficientScope (all that is served here needs more) is the answer
	// itself. An error ends authentication, and so do a panic and an identity
	// without a valid principal.
	Authenticate(r *http.Request) (*Identity, error)
	// Challenge returns the value of a WWW-Authenticate header that tells the
	// sender which credential would do (RFC 9110, section 11.6.1). Empty:
	// none. It must say the same for every path of one endpoint.
	Challenge(r *http.Request) string
}

// Noticer is what an [Authenticator] or [AgentVerifier] implements that has something to tell the
// operator when serving begins. Package serve logs it as a warning.
type Noticer interface {
	// Notices returns what there is to say, a line each, without secrets.
	Notices() []string
}

// ContextAdder is what an [Authenticator] implements whose credential lets
// handlers do something, such as obtaining another one for a call elsewhere.
type ContextAdder interface {
	// AddContext returns the context that runs of the request begin with, made
	// from ctx. Identity is the one that Authenticate returned for r.
	AddContext(ctx context.Context, r *http.Request, identity *Identity) context.Context
}

// Hinter is what an [Authenticator] implements that can say in a sentence what
// to send, for people and models who do not read the header of a challenge.
type Hinter interface {
	// Hint returns the sentence, as in "Send Authorization: Bearer KEY.", or
	// "" for none. It is asked for once, when a [Guard] is made, so that every
	// answer to a missing or invalid credential has the same one.
	Hint() string
}
