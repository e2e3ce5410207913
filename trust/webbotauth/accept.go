package webbotauth

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
)

// AcceptSignature asks for a signature of this level (RFC 9421, section 5.1) that
// covers what the request has to have covered, see [trust.AgentVerifier]. For
// ambit.AgentOnce it offers a nonce; any other that is as long will do.
func (v *Verifier) AcceptSignature(r *http.Request, level ambit.AgentLevel) string {
	if level == ambit.AgentNone || level > ambit.AgentOnce {
		return ""
	}
	nonce := ""
	if level == ambit.AgentOnce {
		nonce = newNonce()
	}
	list := components(level, r.Header, r.ContentLength != 0, true)
	if len(list) > messagesig.MaxComponents {
		return ""
	}
	accept, err := messagesig.Accept(label, list, []string{"created", "expires"}, nonce, Tag)
	if err != nil || strings.ContainsAny(accept, "\r\n") {
		return ""
	}
	return accept
}

// newNonce returns 128 random bits.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails (Go 1.24)
	return encode(b[:])
}
