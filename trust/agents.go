package trust

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
	"github.com/ambit-dev/ambit/internal/visible"
)

// AgentVerifier verifies the signature of the agent that carries a request,
// apart from the credential of its principal. Package trust/webbotauth has one.
// It must be safe for concurrent use and must not read the request's body.
type AgentVerifier interface {
	// Verify judges the signatures of a request, once, before its body is read.
	// Nil: no agent that this application knows has signed it. A signature that
	// does not hold refuses nothing: the request has no agent then.
	Verify(r *http.Request) *SignedRequest
	// AcceptSignature returns the value of an Accept-Signature header (RFC 9421,
	// section 5.1) that asks for a signature of this level. Empty: none.
	AcceptSignature(r *http.Request, level ambit.AgentLevel) string
}

// ApplicationChecker is what an [Authenticator] or [AgentVerifier] implements that
// cannot serve every application, or goes by something of the application that it
// serves.
type ApplicationChecker interface {
	// CheckApplication returns why the application must not start with it, nil
	// where it may. [NewGuard] asks, when all capabilities are known, once for each
	// endpoint of the application.
	CheckApplication(app *ambit.App) error
}

// SignedRequest is what an [AgentVerifier] found out about one request.
type SignedRequest struct {
	// Agent is who has signed, with the level that the signature reaches if
	// Settle finds nothing against it. The zero identity: nobody that is known.
	Agent ambit.AgentIdentity
	// Settle checks what takes the body, such as its digest, and then what may
	// be done once only, such as recording a nonce. It returns what the
	// signature reaches now: the zero identity where it does not hold. It is
	// called at most once, with the whole body. Nil: Agent stands.
	Settle func(ctx context.Context, body []byte) ambit.AgentIdentity
	// Outcome says in a word what was found, as in "unknown-key". It is for the
	// log, and for callers in development mode alone, since it would help a forger.
	Outcome string
	// Named is what a signature that does not hold says of its agent and key,
	// which nobody has verified, for the log. May be empty.
	Named ambit.AgentIdentity
}

// holds reports whether the signature is one of an agent that is known.
func (s *SignedRequest) holds() bool { return s == nil || s.Agent.Verified() }

// verify asks the verifier and contains its panic.
func (g *Guard) verify(r *http.Request) (signed *SignedRequest) {
	if g.agents == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			signed = nil
			g.app.Logger().ErrorContext(r.Context(), "the verifier of agents panicked", slog.Any("panic", v))
		}
	}()
	if signed = g.agents.Verify(asSent(r)); !signed.holds() {
		g.refusedSignature(r, signed)
	}
	return signed
}

// Agent returns the agent that carries a request as far as that is known before
// its body is read: what may be listed, but nothing that may be done, can depend
// on it. [Guard.Settle] gives the last word.
func (i *Identity) Agent() ambit.AgentIdentity {
	if i == nil || i.Signed == nil {
		return ambit.AgentIdentity{}
	}
	return i.Signed.Agent
}

// Settle returns the agent that carries a request whose whole body has been
// read. A surface calls it once for each request, before it makes a call, and
// begins the run with what it returns.
func (g *Guard) Settle(r *http.Request, i *Identity, body []byte) (agent ambit.AgentIdentity) {
	if i == nil || i.Signed == nil || i.Signed.Settle == nil || !i.Signed.Agent.Verified() {
		return i.Agent()
	}
	defer func() {
		if v := recover(); v != nil {
			agent = ambit.AgentIdentity{}
			g.app.Logger().ErrorContext(r.Context(), "the verifier of agents panicked", slog.Any("panic", v))
		}
	}()
	agent = i.Signed.Settle(r.Context(), body)
	if !agent.Verified() {
		g.refusedSignature(r, i.Signed)
	}
	return agent
}

// Explain returns a refusal with what its sender has to know of the signature
// that came with the request: that it does not do, where an agent is required.
// That is the same for one which does not hold and for one that binds too little,
// and names no reason but in development mode. All other errors are returned as
// they are. A surface sends what it returns.
func (i *Identity) Explain(e *ambit.Error, development bool) *ambit.Error {
	if e.Code != ambit.CodeAgentRequired || i == nil || i.Signed == nil {
		return e
	}
	c := *e
	c.Message += " The signature that came with the request does not do."
	if development {
		c.Message += " It was found to be " + i.Signed.Outcome + "."
	}
	return &c
}

// refusedSignatures is how often the log says that signatures of one address do
// not hold, for one and the same reason.
type refusedSignatures struct {
	limit bucket.Limit

	mu   sync.Mutex
	told bucket.Table[toldSignature, bucket.Bucket]
}

type toldSignature struct {
	from    netip.Prefix
	outcome string
}

func newRefusedSignatures() *refusedSignatures {
	limit, _ := bucket.New(1, time.Minute, 1)
	return &refusedSignatures{limit: limit, told: bucket.NewTable[toldSignature]((*bucket.Bucket).Full, maxAddresses)}
}

// refusedSignature tells the operator why a signature does not hold, which its
// sender is not told: once a minute for each address and reason, since anybody
// can send as many as they like.
func (g *Guard) refusedSignature(r *http.Request, s *SignedRequest) {
	t, now := g.signatures, time.Now()
	t.mu.Lock()
	b := t.told.At(toldSignature{g.addresses.of(r, false).address, s.Outcome}, now)
	told := b.Wait(t.limit, now) > 0
	if !told {
		b.Take(t.limit, now)
	}
	t.mu.Unlock()
	if told {
		return
	}
	g.app.Logger().InfoContext(r.Context(), "the signature of an agent does not hold", slog.String("because", s.Outcome),
		slog.String("agent", logged(s.Named.URL)), slog.String("key", logged(s.Named.Key)), g.from(r))
}

// maxLogged is how much of a name goes into the log that a stranger has made.
const maxLogged = 200

func logged(name string) string {
	if len(name) > maxLogged {
		name = strings.ToValidUTF8(name[:maxLogged], "") + "..."
	}
	return visible.Text(name)
}
