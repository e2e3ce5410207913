package webbotauth

import (
	"net/http"
	"time"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

// At sets the clock by which signatures are judged.
func (v *Verifier) At(now time.Time) { v.now = func() time.Time { return now } }

// BelievePublished lets keys verify whose private halves are published.
func (v *Verifier) BelievePublished() { v.anyKey = true }

// FetchBy fetches directories by a transport of the test's.
func (v *Verifier) FetchBy(t http.RoundTripper) {
	for _, a := range v.agents {
		if a.directory != nil {
			a.directory.client = &http.Client{Transport: t, Timeout: 5 * time.Second, CheckRedirect: a.directory.client.CheckRedirect}
		}
	}
}

// Unhurried lets directories take as long to answer as a busy machine needs.
func (v *Verifier) Unhurried() {
	for _, a := range v.agents {
		if a.directory != nil {
			a.directory.client.Timeout = time.Hour
		}
	}
}

// At sets the clock by which requests are signed.
func (s *Signer) At(now time.Time) { s.now = func() time.Time { return now } }

// SignWith signs a request over components of the test's choice.
func (s *Signer) SignWith(r *http.Request, components ...messagesig.Component) error {
	r.Header.Set("Signature-Agent", s.agent)
	input, value, err := s.sign(r, components)
	if err != nil {
		return err
	}
	r.Header.Set("Signature-Input", input)
	r.Header.Set("Signature", value)
	return nil
}

// AgentOf runs the switch between the generations of Signature-Agent.
func AgentOf(s *messagesig.Signature, lines []string) (agent, why string) {
	agent, finding := agentOf(s, &messagesig.Message{Header: http.Header{"Signature-Agent": lines}})
	if finding.outcome == "" {
		return agent, ""
	}
	return agent, finding.String()
}

// Sign signs bytes, for signatures that no signer of this package would make.
func (k PrivateKey) Sign(base []byte) []byte { return k.sign(base) }

// Verifies reports whether a signature of bytes is the key's.
func (k Key) Verifies(base, signature []byte) bool { return k.verifies(base, signature) }

// Weak is exported for the tests of keys that anybody can sign for.
var (
	Weak       = weak
	SmallOrder = smallOrder
	LifetimeOf = lifetimeOf
)

// ParseKeySet reads a directory's body, as one at its own path or elsewhere.
func ParseKeySet(body []byte, own bool) (map[string]Key, []error, error) {
	return parseKeySet(body, own)
}
