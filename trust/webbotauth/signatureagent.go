package webbotauth

import (
	"slices"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

// agentOf returns the agent that a signature of a message names, from the
// Signature-Agent field, and why there is none. It is the one place that tells
// the generations of the field apart:
//
//   - A string: an origin (draft-meunier-web-bot-auth-architecture, to -03).
//   - A dictionary whose members may have a type: "directory" for an origin,
//     which is the default, "jwks_uri" for the URL of a key set
//     (draft-meunier-web-bot-auth-architecture-05 and draft-meunier-webbotauth-
//     httpsig-protocol, to draft-ietf-webbotauth-httpsig-protocol-00). Members
//     of other types ("cimd") name no keys.
//   - A dictionary whose members are the URLs of key sets and have no parameters
//     (draft-ietf-webbotauth-httpsig-protocol-01); its examples show origins
//     still.
//
// In all of them an origin stands for [WellKnown] there. The signature covers the
// field as a whole, or of a dictionary the member of its own label; where it
// covers a single member of another label, as the generation in the middle
// allows, it is that one.
func agentOf(s *messagesig.Signature, m *messagesig.Message) (agent string, why finding) {
	lines := m.Header["Signature-Agent"]
	if len(lines) == 0 {
		return "", unverified("signature-agent-absent")
	}
	whole := s.Covers(messagesig.Component{Name: "signature-agent"})
	keys := s.Keys("signature-agent")
	if !whole && len(keys) == 0 {
		return "", invalid("signature-agent-not-covered")
	}
	if text, err := messagesig.String(lines); err == nil {
		if !whole {
			return "", invalid("signature-agent-member-missing")
		}
		return agentNamed(text, false)
	}
	members, err := m.Dictionary("signature-agent")
	if err != nil {
		return "", invalid("signature-agent-unreadable")
	}
	label := s.Label
	switch {
	case whole || slices.Contains(keys, label):
	case len(keys) == 1:
		label = keys[0]
	default:
		return "", invalid("signature-agent-not-covered")
	}
	text, kind, ok := messagesig.TextMember(members, label, "type")
	switch {
	case !ok:
		return "", invalid("signature-agent-member-missing")
	case kind != "" && kind != "directory" && kind != "jwks_uri":
		return "", unverified("signature-agent-type")
	}
	return agentNamed(text, kind == "jwks_uri")
}

func agentNamed(text string, own bool) (string, finding) {
	agent, ok := identify(text, own)
	if !ok {
		return "", invalid("signature-agent-not-https")
	}
	return agent, finding{}
}
