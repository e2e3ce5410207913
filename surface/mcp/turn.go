package mcp

import (
	"context"

	"github.com/ambit-dev/ambit"
)

// turn is one message, or one batch, that a session has received and not yet
// answered.
type turn struct {
	session  *Session
	ctx      context.Context
	revision revision
	array    bool
	messages []message
	flights  []*flight // one for each message; nil for what cannot be canceled
	failure  *rpcError // why there are no messages
	busy     bool      // no call may be made
}

// receive reads a text and notes its requests, so that a cancellation which
// comes next finds them. Whoever receives must answer.
func (s *Session) receive(ctx context.Context, text []byte) *turn {
	t := &turn{session: s, ctx: ctx, revision: s.agreed(), array: batched(text)}
	if t.array {
		t.messages, t.failure = parseBatch(text, t.revision)
	} else {
		var m message
		if m, t.failure = parse(text); t.failure == nil {
			t.choose(&m)
			t.messages = []message{m}
		}
	}
	t.flights = make([]*flight, len(t.messages))
	for i := range t.messages {
		t.flights[i] = s.depart(ctx, &t.messages[i])
	}
	return t
}

// choose finds out which revision a message speaks: what it says itself, else
// what the handshake agreed on.
func (t *turn) choose(m *message) {
	least := t.session.server.least
	said := m.params.meta.version
	switch {
	case m.refused != nil:
	case said.valid():
		if t.revision = revisionOf(said.text); t.revision < least {
			t.revision, m.refused = least, unsupportedVersion(said.text, least)
		}
	case least.modern() && string(m.method) == "initialize":
		m.refused = unsupportedVersion(m.params.version.text, least)
	}
}

// calls reports whether answering means running something that may take long.
func (t *turn) calls() bool {
	for i := range t.messages {
		if string(t.messages[i].method) == "tools/call" {
			return true
		}
	}
	return false
}

// answer makes the response, nil where none is due.
func (t *turn) answer() []byte {
	if t.failure != nil {
		return appendError(nil, nil, t.failure)
	}
	s := t.session
	b := s.server.buffers()
	defer s.server.put(b)
	x := &exchange{
		Server: s.server, buffers: b, principal: s.principal, revision: t.revision,
		session: s, busy: t.busy,
	}
	if t.array {
		x.respondBatch(len(t.messages), func(i int) { t.one(x, i) })
	} else {
		t.one(x, 0)
	}
	if len(x.out) == 0 {
		return nil
	}
	return appendLine(make([]byte, 0, len(x.out)), x.out)
}

// one answers one message under a context that the client can cancel.
func (t *turn) one(x *exchange, i int) {
	m, f := &t.messages[i], t.flights[i]
	if f == nil {
		x.ctx = t.ctx
		x.respond(m)
		return
	}
	before := len(x.out)
	x.ctx = f.ctx
	if t.session.say != nil && !x.batched {
		x.listener = audience{t.session, f}
	}
	x.respond(m)
	if t.session.land(m, f) {
		x.out = x.out[:before]
	}
}

// errBusy is what a call gets that there is no room for.
func errBusy() *ambit.Error {
	e := ambit.Errorf(ambit.CodeRateLimited, "As many calls as may be are being answered on this connection.").
		WithHint("Wait for one of them, then send the call again.")
	e.Executed = ambit.ExecutedNo
	return e
}
