package mcp

import (
	"net/http"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
	"github.com/ambit-dev/ambit/trust"
)

// Keys of _meta. Those of Ambit have one prefix; docs/mcp.md lists them.
const (
	keyProgressToken      = "progressToken"
	keyProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	keyClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel           = "io.modelcontextprotocol/logLevel"
	keyServerInfo         = "io.modelcontextprotocol/serverInfo"
	keyTraceParent        = "traceparent" // these two have no prefix (SEP-414)
	keyTraceState         = "tracestate"

	keyReason         = "dev.ambit/reason"
	keyIdempotencyKey = "dev.ambit/idempotency-key"
	keyConfirmation   = "dev.ambit/confirmation"
	keyReplayed       = "dev.ambit/replayed"
	keyError          = "dev.ambit/error"
	keyName           = "dev.ambit/name"
	keyEffect         = "dev.ambit/effect"
	keyUntrusted      = "dev.ambit/untrusted"
)

// meta is what a request says about itself in params._meta.
type meta struct {
	progressToken []byte // JSON text; nil: no progress is wanted
	version       word
	capabilities  bool   // the client's capabilities are there
	client        []byte // these, as JSON text
	logLevel      word

	reason, idempotencyKey, confirmation word

	traceParent, traceState word // what is wrong with them is no fault of the call

	wrong string // what is wrong with it, in a sentence
}

// trace returns the trace context that a message carries: its own, or else that
// of the HTTP request which it came in.
func (m *meta) trace(header http.Header) ambit.Trace {
	if !m.traceParent.valid() {
		return trust.Trace(header)
	}
	return ambit.Trace{Parent: string(m.traceParent.text), State: string(m.traceState.text)}
}

// read reads _meta and reports whether it has a member twice.
func (m *meta) read(r *reader) (repeated bool) {
	if !r.object() {
		m.wrong = "The member _meta must be an object."
		return false
	}
	var seen strictjson.Keys
	for {
		name, again, ok := r.member(&seen)
		if !ok {
			return repeated
		}
		repeated = repeated || again
		m.member(r, name)
	}
}

func (m *meta) member(r *reader, name []byte) {
	switch string(name) {
	case keyProgressToken:
		if m.progressToken = validID(r.value()); m.progressToken == nil {
			m.wrong = "The progress token must be a string or an integer of at most 256 bytes."
		}
	case keyProtocolVersion:
		if m.version = r.word(); m.version.wrong {
			m.wrong = keyProtocolVersion + " must be a string."
		}
	case keyClientCapabilities:
		value := r.value()
		m.client = value
		if m.capabilities = len(value) > 0 && value[0] == '{'; !m.capabilities {
			m.wrong = keyClientCapabilities + " must be an object."
		}
	case keyLogLevel:
		if m.logLevel = r.word(); levelOf(m.logLevel.text) == 0 {
			m.wrong = keyLogLevel + " must be one of the eight levels."
		}
	case keyReason:
		m.reason = r.word()
	case keyIdempotencyKey:
		m.idempotencyKey = r.word()
	case keyConfirmation:
		m.confirmation = r.word()
	case keyTraceParent:
		m.traceParent = r.word()
	case keyTraceState:
		m.traceState = r.word()
	default:
		r.value()
	}
}
