package oauth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
)

// Challenge implements [trust.Authenticator]: what a request without a token is
// told.
func (a *Authenticator) Challenge(r *http.Request) string {
	at := a.resourceAt(r.Host, r.URL.Path)
	if at == nil {
		return "Bearer"
	}
	return at.challenge("", nil)
}

// ChallengeFor implements [trust.Challenger] (RFC 6750, section 3; RFC 9449,
// section 7.1; RFC 9728, section 5.1).
func (a *Authenticator) ChallengeFor(header http.Header, r *http.Request, refused *ambit.Error) {
	at := a.resourceAt(r.Host, r.URL.Path)
	cause := ""
	switch refused.Code {
	case ambit.CodeInvalidInput:
		cause = "invalid_request"
	case ambit.CodeInsufficientScope:
		cause = "insufficient_scope"
	case ambit.CodeUnauthenticated, ambit.CodeAgentRequired:
		cause = a.invalidity(header, r, at)
	}
	challenge := "Bearer"
	switch {
	case at != nil:
		challenge = at.challenge(cause, refused.Scopes)
	case cause != "":
		challenge = `Bearer error="` + cause + `"`
	}
	if at != nil && (at.DPoP == BindingRequired || sentDPoP(r)) {
		challenge = "DPoP" + strings.TrimPrefix(challenge, "Bearer") + `, algs="` + strings.Join(algorithms, " ") + `"`
	}
	header["Www-Authenticate"] = append(header["Www-Authenticate"], challenge)
}

// invalidity says what is wrong with the token of a request that is not
// authenticated: nothing where there is none.
func (a *Authenticator) invalidity(header http.Header, r *http.Request, at *resource) string {
	if len(r.Header["Authorization"]) == 0 {
		if at != nil && at.DPoPNonces {
			header["Dpop-Nonce"] = []string{a.nonces.issue()}
		}
		return ""
	}
	scheme, _, _ := strings.Cut(r.Header["Authorization"][0], " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return "invalid_token"
	case !strings.EqualFold(scheme, "DPoP"):
		return "" // another kind of credential
	case at == nil:
		return "invalid_token"
	}
	return a.dpopInvalidity(header, r, at)
}

func sentDPoP(r *http.Request) bool {
	header := r.Header["Authorization"]
	return len(header) > 0 && len(header[0]) >= 5 && strings.EqualFold(header[0][:5], "DPoP ")
}

// challenge makes the challenge of a resource. It names the scopes that the
// endpoint needs, and those of what was asked for beside them: a client that
// obtains just these gets through.
func (r *resource) challenge(cause string, scopes []string) string {
	var b strings.Builder
	b.WriteString("Bearer ")
	if cause != "" {
		b.WriteString(`error="` + cause + `", `)
	}
	needed := slices.Clone(r.Scopes)
	for _, scope := range scopes {
		if !slices.Contains(needed, scope) {
			needed = append(needed, scope)
		}
	}
	if len(needed) > 0 && cause != "invalid_request" {
		b.WriteString(`scope="` + strings.Join(needed, " ") + `", `)
	}
	b.WriteString(`resource_metadata="` + r.metadata + `"`)
	return b.String()
}
