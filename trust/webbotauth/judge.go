package webbotauth

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/trust"
)

// What a nonce may be long: shorter ones are too easy to hit upon twice, longer
// ones too much to keep.
const (
	minNonce = 16
	maxNonce = 256
)

// nonceLimit is how long the record of nonces has for an answer.
const nonceLimit = 5 * time.Second

// judged is a signature that verifies.
type judged struct {
	identity ambit.AgentIdentity
	digest   []string // the lines of Content-Digest where it is covered
	nonce    string   // to be recorded; empty: none
	expires  time.Time
}

// judge goes through all that is wrong with signatures, what is cheap first: to
// the arithmetic comes only who names a known agent and one of its keys.
func (v *Verifier) judge(r *http.Request, m *messagesig.Message, s *messagesig.Signature) (*judged, finding) {
	life, why := v.lifetime(s)
	if why.outcome != "" {
		return nil, why
	}
	if !s.Covers(messagesig.Component{Name: "@authority"}) && !s.Covers(messagesig.Component{Name: "@target-uri"}) {
		return nil, invalid("target-not-covered")
	}
	named, why := agentOf(s, m)
	if why.outcome != "" {
		return nil, why
	}
	agent := v.agents[named]
	if agent == nil {
		return nil, unverified("agent-not-allowed")
	}
	keyid, _ := s.Text("keyid")
	if why = v.verifyWith(r.Context(), agent, keyid, m, s); why.outcome != "" {
		return nil, why
	}
	j := &judged{identity: ambit.AgentIdentity{URL: named, Key: keyid, Level: ambit.AgentIdentified}}
	if s.Covers(messagesig.Component{Name: "content-digest"}) {
		j.digest = r.Header["Content-Digest"]
	}
	if life > v.options.BoundLifetime {
		return j, finding{}
	}
	expires, _ := s.Integer("expires")
	j.expires = time.Unix(expires, 0)
	if nonce, _ := s.Text("nonce"); len(nonce) >= minNonce && len(nonce) <= maxNonce {
		j.nonce = nonce
	}
	if bound(r, s) {
		j.identity.Level = ambit.AgentRequest
		if j.nonce != "" {
			j.identity.Level = ambit.AgentOnce
		}
	}
	return j, finding{}
}

func (v *Verifier) verifyWith(ctx context.Context, agent *known, keyid string, m *messagesig.Message, s *messagesig.Signature) finding {
	key, why := v.key(ctx, agent, keyid)
	if why.outcome != "" {
		return why
	}
	base, err := s.Base(m)
	if err != nil {
		return invalid("component-unavailable")
	}
	if !key.verifies(base, s.Value()) {
		return invalid("bad-signature")
	}
	return finding{}
}

// lifetime judges what a signature says about itself, and returns how long it
// lives.
func (v *Verifier) lifetime(s *messagesig.Signature) (time.Duration, finding) {
	if s.Fault() != nil {
		return 0, invalid("component-unknown")
	}
	created, hasCreated := s.Integer("created")
	expires, hasExpires := s.Integer("expires")
	if _, hasKey := s.Text("keyid"); !hasCreated || !hasExpires || !hasKey {
		return 0, invalid("missing-parameter")
	}
	if _, ok := s.Text("nonce"); s.Has("nonce") && !ok {
		return 0, invalid("nonce-unreadable")
	}
	if alg, _ := s.Text("alg"); s.Has("alg") && alg != "ed25519" {
		return 0, invalid("algorithm-not-allowed")
	}
	if len(s.Value()) != ed25519.SignatureSize {
		return 0, invalid("signature-unreadable")
	}
	now := v.now().Unix()
	switch {
	case expires <= created || expires-created > int64(v.options.Lifetime/time.Second):
		return 0, invalid("lifetime")
	case created > now+int64(skew/time.Second):
		return 0, invalid("created-in-future")
	case now > expires:
		return 0, invalid("expired")
	}
	return time.Duration(expires-created) * time.Second, finding{}
}

// request is what the guard is told before the body is read, of the signatures
// that hold, the one that reaches farthest first.
func (v *Verifier) request(held []*judged) *trust.SignedRequest {
	signed := &trust.SignedRequest{Agent: held[0].identity, Outcome: string(outcomeVerified)}
	signed.Settle = func(ctx context.Context, body []byte) ambit.AgentIdentity {
		identity, why := v.settle(ctx, held, body)
		if why.outcome != "" {
			signed.Outcome, signed.Named = why.String(), held[0].identity
		}
		signed.Agent = identity
		return identity
	}
	return signed
}

// settle checks the digest, and then, last of all, uses nonces up: that of the
// first signature, and those of all others for which the same request could be
// sent once more.
func (v *Verifier) settle(ctx context.Context, held []*judged, body []byte) (ambit.AgentIdentity, finding) {
	identity, why := held[0].over(body)
	if why.outcome != "" {
		return ambit.AgentIdentity{}, why
	}
	for i, j := range held {
		if i > 0 {
			if other, _ := j.over(body); other.Level < ambit.AgentOnce {
				continue
			}
		}
		if j.nonce == "" {
			continue
		}
		fresh, err := v.record(ctx, j)
		switch {
		case err != nil:
			v.options.Logger.ErrorContext(ctx, "the record of agents' nonces does not answer", "error", err)
			if identity.Level == ambit.AgentOnce {
				identity.Level, identity.OnceUnavailable = ambit.AgentRequest, true
			}
			return identity, finding{}
		case !fresh:
			return ambit.AgentIdentity{}, invalid("replayed")
		}
	}
	return identity, finding{}
}

// over returns how far a signature reaches over a body, the zero identity where
// it is one of another.
func (j *judged) over(body []byte) (ambit.AgentIdentity, finding) {
	identity := j.identity
	switch {
	case j.digest != nil:
		if err := messagesig.CheckDigest(j.digest, body); err != nil {
			return ambit.AgentIdentity{}, invalid("content-digest-mismatch")
		}
	case len(body) > 0:
		identity.Level = ambit.AgentIdentified
	}
	return identity, finding{}
}

func (v *Verifier) record(ctx context.Context, j *judged) (fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, nonceLimit)
	defer cancel()
	return v.options.Nonces.Record(ctx, j.identity.String(), j.nonce, j.expires.Add(skew))
}
