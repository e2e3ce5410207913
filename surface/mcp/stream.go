package mcp

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// stream is the answer to one HTTP request: JSON, or from the first
// notification on a stream of events that ends with the response.
type stream struct {
	*post

	mu      sync.Mutex
	started bool
	broken  bool // a write failed: the client is gone
}

// notify sends a notification at once.
func (s *stream) notify(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.headers(-1, "text/event-stream")
		// Without it a proxy may hold events back (2026-07-28,
		// basic/transports/streamable-http).
		s.w.Header()["X-Accel-Buffering"] = []string{"no"}
		s.w.WriteHeader(http.StatusOK)
	}
	s.event(message)
}

// event writes one event. An event's data is one line.
func (s *stream) event(message []byte) {
	if s.broken {
		return
	}
	text := append(make([]byte, 0, len(message)+24), "event: message\ndata: "...)
	text = appendLine(text, message)
	if _, err := s.w.Write(append(text, "\n\n"...)); err != nil {
		s.broken = true
		return
	}
	// A writer that cannot flush sends the events when the answer is complete.
	_ = http.NewResponseController(s.w).Flush()
}

// finish writes the response, or that there is none, and reports whether that
// went well.
func (s *stream) finish(response []byte, status int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.started:
		s.event(response)
		return !s.broken
	case len(response) > 0:
		return s.send(status, response)
	case status == http.StatusOK:
		status = http.StatusAccepted
	}
	s.headers(-1, "")
	s.w.WriteHeader(status)
	return true
}

// appendLine appends a JSON text on one line.
func appendLine(dst, text []byte) []byte {
	if bytes.ContainsAny(text, "\r\n") {
		return strictjson.Compact(dst, text)
	}
	return append(dst, text...)
}
