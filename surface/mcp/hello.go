package mcp

import (
	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// capabilities are what the server declares. Resources and prompts are lists
// that are empty; nothing changes while the server runs, so that no list
// announces changes.
const capabilities = `{"logging":{},"prompts":{},"resources":{},"tools":{}}`

// private are the cache hints of everything that may differ between callers.
const private = `,"ttlMs":0,"cacheScope":"private"`

// hello is what the server says about itself, as JSON text.
type hello struct {
	server       []byte // its name, title and version
	instructions []byte // a member with its comma, or nothing
	meta         []byte // the _meta of a result from 2026-07-28 on, without its closing brace
}

func newHello(app *ambit.App) (h hello) {
	h.server = append(h.server, `{"name":`...)
	h.server = strictjson.AppendString(h.server, app.Name())
	if app.Title() != app.Name() {
		h.server = append(h.server, `,"title":`...)
		h.server = strictjson.AppendString(h.server, app.Title())
	}
	h.server = append(h.server, `,"version":`...)
	h.server = strictjson.AppendString(h.server, app.Version())
	h.server = append(h.server, '}')
	if app.Instructions() != "" {
		h.instructions = append(h.instructions, `,"instructions":`...)
		h.instructions = strictjson.AppendString(h.instructions, app.Instructions())
	}
	h.meta = append(h.meta, `,"_meta":{"`+keyServerInfo+`":`...)
	h.meta = append(h.meta, h.server...)
	return h
}

// initialize answers the handshake of the revisions that have one (2025-11-25,
// basic/lifecycle). What is negotiated is kept in the session; over HTTP the
// client repeats it in a header.
func (x *exchange) initialize(m *message) *rpcError {
	if !m.params.version.valid() {
		return invalidParams("The member protocolVersion must be a string.")
	}
	agreed := settle(revisionOf(m.params.version.text), x.least)
	if x.session != nil {
		x.session.agree(agreed)
	}
	x.out = appendStart(x.out, m.id)
	x.out = append(x.out, `"protocolVersion":"`...)
	x.out = append(x.out, agreed.String()...)
	x.out = append(x.out, `","capabilities":`+capabilities+`,"serverInfo":`...)
	x.out = append(x.out, x.hello.server...)
	x.out = append(x.out, x.hello.instructions...)
	x.out = append(x.out, "}}"...)
	return nil
}

// discover answers server/discover (2026-07-28, server/discover).
func (x *exchange) discover(m *message) {
	x.begin(m)
	x.out = append(x.out, `"supportedVersions":`...)
	x.out = appendSupported(x.out, x.least)
	x.out = append(x.out, `,"capabilities":`+capabilities+private...)
	x.out = append(x.out, x.hello.instructions...)
	x.end()
}
