package mcp

import (
	"context"
	"sync"

	"github.com/ambit-dev/ambit"
)

// Session is one client on a connection that lasts: it remembers what the
// handshake agreed on, the log level, and which requests are being answered.
// Make one with [Server.NewSession]. Methods are safe for concurrent use.
type Session struct {
	server    *Server
	principal *ambit.Principal
	say       func([]byte) // nil: nobody listens

	mu       sync.Mutex
	revision revision
	level    level
	flights  map[string]*flight // by sameID
}

// flight is a request that is being answered.
type flight struct {
	ctx      context.Context
	cancel   context.CancelFunc
	canceled bool // by the client, who wants no response any more
}

// NewSession returns a session of the server on behalf of a principal, for
// transports that are not HTTP. Notify sends what the server has to say while it
// answers, progress and logs: one JSON-RPC message without line breaks, which it
// must not keep; calls of it may overlap. Nil: the client is told nothing on the
// way. Nothing is authenticated here: whoever makes the session vouches for the
// principal.
func (s *Server) NewSession(principal *ambit.Principal, notify func(message []byte)) *Session {
	session := &Session{
		server: s, principal: principal, revision: max(s.least, revision20250326), level: levelInfo,
		flights: map[string]*flight{},
	}
	if notify != nil {
		session.say = func(message []byte) { notify(appendLine(nil, message)) }
	}
	return session
}

// Handle answers one message, or one batch where the revision has batches. The
// response is one JSON text without line breaks, and nil where none is due: to
// a notification, and to a request that the client has canceled in the
// meantime. It is never an error of Go: whatever is wrong with the message is in
// the response. The message is not kept.
func (s *Session) Handle(ctx context.Context, message []byte) []byte {
	return s.receive(ctx, message).answer()
}

// depart notes that a request is being answered. Two requests with one id could
// not be told apart (JSON-RPC 2.0, section 4).
func (s *Session) depart(ctx context.Context, m *message) *flight {
	if m.id == nil || m.reply || m.refused != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := sameID(m.id)
	if s.flights[id] != nil {
		m.refused = invalidRequest("A request with this id is being answered already.")
		return nil
	}
	f := &flight{}
	f.ctx, f.cancel = context.WithCancel(ctx)
	s.flights[id] = f
	return f
}

// land forgets a request and reports whether the client has canceled it.
func (s *Session) land(m *message, f *flight) (canceled bool) {
	f.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flights, sameID(m.id))
	return f.canceled
}

// cancel cancels a request by its id. One that is not being answered, any more
// or yet, is none of this session's.
func (s *Session) cancel(id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[sameID(id)]; f != nil {
		f.canceled = true
		f.cancel()
	}
}

// audience hears what is said about one request, until the client has canceled
// it.
type audience struct {
	session *Session
	flight  *flight
}

func (a audience) notify(message []byte) {
	if !a.session.canceled(a.flight) {
		a.session.say(message)
	}
}

// canceled reports whether the client wants to hear no more of a request.
func (s *Session) canceled(f *flight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.canceled
}

func (s *Session) agree(r revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = r
}

func (s *Session) agreed() revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

func (s *Session) setLogLevel(l level) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = l
}

func (s *Session) logLevel() level {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}
