package oauth

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// SetTransport has everything fetched through another transport: within a bubble
// of testing/synctest there is no network.
func (a *Authenticator) SetTransport(t http.RoundTripper) { a.client.Transport = t }

// Unhurried lets an issuer take as long to answer as a busy machine needs.
func (a *Authenticator) Unhurried() { a.client.Timeout = time.Hour }

// NonceAt is the nonce of a time.
func (a *Authenticator) NonceAt(at time.Time) string { return a.nonces.at(at.Unix()) }

// NewMemory is the record of proofs that serves one instance.
func NewMemory() Replays { return newMemory() }

// The limits of what is kept, and for how long keys are.
const (
	MaxReplays   = maxReplays
	MaxShare     = maxShare
	ReplaySlot   = replaySlot
	MaxSeen      = maxSeen
	MaxAsked     = maxAsked
	MaxQuestions = maxQuestions
	FreshKeys    = freshKeys
)

// Seen returns how many tokens are remembered as valid, and how many answers about
// tokens.
func (a *Authenticator) Seen() (valid, answers int) {
	return len(a.seen.young) + len(a.seen.old), len(a.asked.answered.young) + len(a.asked.answered.old)
}

// CredentialOf reads a token from a request with this header and query.
func CredentialOf(header, query string) (token string, dpop, refused bool) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.URL.RawQuery = query
	r.Header["Authorization"] = []string{header}
	c, e := credentialOf(r)
	return c.token, c.dpop, e != nil
}
