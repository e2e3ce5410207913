package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Headers that repeat what a message says, in their canonical form (2026-07-28,
// basic/transports/streamable-http).
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// choose finds out which revision a message speaks: what its header says and
// what its _meta says, which must not differ. Neither is 2025-03-26, which knew
// no such thing. A message that could not be read has no _meta.
func (s *Server) choose(header http.Header, m *message) (revision, *rpcError) {
	values := header[headerVersion]
	var said word
	if m != nil {
		said = m.params.meta.version
	}
	var asked []byte
	switch {
	case len(values) > 1:
		return 0, headerMismatch("The request has more than one " + headerVersion + " header.")
	case len(values) == 1 && said.valid() && values[0] != string(said.text):
		return 0, headerMismatch("The header " + headerVersion + " and " + keyProtocolVersion + " differ.")
	case len(values) == 1:
		asked = []byte(values[0])
	case revisionOf(said.text).modern():
		return 0, headerMismatch("The header " + headerVersion + " is missing.")
	case said.valid():
		asked = said.text
	default:
		return s.served(revision20250326, []byte(revision20250326.String()), m)
	}
	return s.served(revisionOf(asked), asked, m)
}

// served refuses revisions that are not. The handshake is the exception, which
// is where the two sides settle on one.
func (s *Server) served(r revision, asked []byte, m *message) (revision, *rpcError) {
	switch {
	case r >= s.least:
		return r, nil
	case r != 0 && !s.least.modern() && m != nil && string(m.method) == "initialize":
		return r, nil
	}
	return 0, unsupportedVersion(asked, s.least)
}

// agree checks the headers that repeat a message's method and name. Where they
// are there they are right, in every revision: whoever decided by them on the
// way must have decided about this message (rule T30). From 2026-07-28 on they
// must be there with every request.
func agree(header http.Header, r revision, m *message) *rpcError {
	required := r.modern() && !m.silent && !m.reply
	if failure := agreeMethod(header[headerMethod], required, m); failure != nil {
		return failure
	}
	addressee, has := m.addressee()
	switch values := header[headerName]; {
	case len(values) > 1:
		return headerMismatch("The request has more than one " + headerName + " header.")
	case len(values) == 0 && required && has:
		return headerMismatch("The header " + headerName + " is missing.")
	case len(values) == 0:
	case !has && !nameless(m.method):
	case !has:
		return headerMismatch("The header " + headerName + " has nothing in the message that it could repeat.")
	default:
		if name, ok := headerText(values[0]); !ok || !addressee.is(name) {
			return headerMismatch("The header " + headerName + " and the message differ.")
		}
	}
	return nil
}

// nameless reports whether a method is known to have no name. What is not known
// here is answered so, whatever its headers are.
func nameless(method []byte) bool {
	switch string(method) {
	case "server/discover", "initialize", "ping", "logging/setLevel", "tools/list",
		"resources/list", "resources/templates/list", "prompts/list":
		return true
	}
	return false
}

func agreeMethod(values []string, required bool, m *message) *rpcError {
	switch {
	case len(values) > 1:
		return headerMismatch("The request has more than one " + headerMethod + " header.")
	case len(values) == 0 && required:
		return headerMismatch("The header " + headerMethod + " is missing.")
	case len(values) == 1 && values[0] != string(m.method):
		return headerMismatch("The header " + headerMethod + " and the message differ.")
	}
	return nil
}

// headerText decodes a header's value: as it is, or Base64 between marks where
// it has characters that a header must not have.
func headerText(value string) (text string, ok bool) {
	encoded, marked := strings.CutPrefix(value, "=?base64?")
	if marked {
		encoded, marked = strings.CutSuffix(encoded, "?=")
	}
	if !marked {
		return value, true
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return string(plain), err == nil
}
