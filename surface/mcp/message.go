package mcp

import "github.com/ambit-dev/ambit/internal/strictjson"

// message is one JSON-RPC 2.0 message (sections 4 and 5) as far as this server
// looks at it. Its slices are parts of the text that it was read from.
type message struct {
	id      []byte // JSON text; nil where there is none, or none that is valid
	method  []byte // nil in a response
	reply   bool   // a client's response to something
	silent  bool   // a notification: nothing may be answered, whatever is wrong
	params  params
	refused *rpcError // why it is no valid request or its parameters are not
}

// params are the members of all methods' parameters.
type params struct {
	name      word // tools/call, prompts/get
	uri       word // resources/read
	cursor    word // the lists
	version   word // initialize
	level     word // logging/setLevel
	arguments []byte
	requestID []byte // notifications/cancelled
	state     word   // tools/call, from 2026-07-28 on
	meta      meta
}

// addressee is what the Mcp-Name header repeats, for the methods that have one.
func (m *message) addressee() (w word, ok bool) {
	switch string(m.method) {
	case "tools/call", "prompts/get":
		return m.params.name, true
	case "resources/read":
		return m.params.uri, true
	}
	return word{}, false
}

// parse reads one message. The error is a parse error; what is wrong with the
// message beyond that is in message.refused. Members that no one knows are
// ignored, as section 4 leaves room for them; repeated ones are not.
func parse(text []byte) (m message, failure *rpcError) {
	r := reader{text: text, at: strictjson.Space(text, 0)}
	m.read(&r)
	if err := r.end(); err != nil {
		return message{}, parseError(err)
	}
	return m, nil
}

// envelope is what is judged once the whole text has been read.
type envelope struct {
	object, repeated, id, method, reply bool
	version                             word
	params                              paramsState
}

func (m *message) read(r *reader) {
	var e envelope
	if e.object = r.object(); e.object {
		m.members(r, &e)
	}
	m.judge(e)
}

func (m *message) members(r *reader, e *envelope) {
	var seen strictjson.Keys
	for {
		name, repeated, ok := r.member(&seen)
		if !ok {
			return
		}
		e.repeated = e.repeated || repeated
		switch string(name) {
		case "jsonrpc":
			e.version = r.word()
		case "id":
			e.id = true
			m.id = validID(r.value())
		case "method":
			method := r.word()
			e.method = true
			m.method = method.text
		case "params":
			e.params = m.params.read(r)
		case "result", "error":
			e.reply = true
			r.value()
		default:
			r.value()
		}
	}
}

// judge finds out what kind of message it is, and what is wrong with it.
func (m *message) judge(e envelope) {
	m.reply = e.reply && !e.method
	defer func() {
		sound := m.refused == nil || m.refused.number == numberInvalidParams
		m.silent = sound && !m.reply && !e.id
	}()
	switch {
	case !e.object:
		m.refused = invalidRequest("A message is a JSON object.")
	case e.repeated || e.params.repeated:
		m.id = nil // it may be what stands twice
		m.refused = invalidRequest("The message has a member twice.")
	case !e.version.is("2.0"):
		m.refused = invalidRequest(`The member jsonrpc must be "2.0".`)
	case e.id && m.id == nil:
		m.refused = invalidRequest("The id must be a string or an integer of at most 256 bytes.")
	case m.reply:
	case !e.method || len(m.method) == 0:
		m.refused = invalidRequest("The member method must be a string that is not empty.")
	case e.params.wrong:
		m.refused = invalidParams("The member params must be an object.")
	case m.params.meta.wrong != "":
		m.refused = invalidParams(m.params.meta.wrong)
	}
}

// paramsState is what the envelope has to know of its parameters.
type paramsState struct{ wrong, repeated bool }

func (p *params) read(r *reader) (s paramsState) {
	if s.wrong = !r.object(); s.wrong {
		return s
	}
	var seen strictjson.Keys
	for {
		name, repeated, ok := r.member(&seen)
		if !ok {
			return s
		}
		s.repeated = s.repeated || repeated
		switch string(name) {
		case "name":
			p.name = r.word()
		case "uri":
			p.uri = r.word()
		case "cursor":
			p.cursor = r.word()
		case "protocolVersion":
			p.version = r.word()
		case "level":
			p.level = r.word()
		case "arguments":
			p.arguments = r.value()
		case "requestId":
			p.requestID = r.value()
		case "requestState":
			p.state = r.word()
		case "_meta":
			s.repeated = p.meta.read(r) || s.repeated
		default:
			r.value()
		}
	}
}
