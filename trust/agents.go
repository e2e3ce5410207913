package trust

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/ambit-dev/ambit"
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

// ApplicationChecker is what an [AgentVerifier] implements that cannot serve every
// application.
type ApplicationChecker interface {
	// CheckApplication returns why the application must not start with it, nil
	// where it may. [NewGuard] asks, when all capabilities are known.
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
	// Outcome says in a word what was found, as in "unknown-key". It is told in
	// development mode and to nobody else, since it would help a forger.
	Outcome string
}

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
	return g.agents.Verify(r)
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
	return i.Signed.Settle(r.Context(), body)
}
