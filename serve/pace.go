package serve

import (
	"io"
	"net"
	"net/http"
	"time"
)

// paceBodies holds clients to the least rate at which a body may come in. A
// plain read timeout would either cut off large bodies or let small ones
// trickle.
func (l Limits) paceBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && r.Body != nil {
			body := &pacedBody{ReadCloser: r.Body, limits: l, control: http.NewResponseController(w), left: l.Stall}
			// For a handler that does not read: net/http reads on after it.
			_ = body.control.SetReadDeadline(time.Now().Add(l.Stall)) // fails only for foreign writers
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody is a body whose reads take together no longer than they may. The
// time between reads is the handler's and does not count.
type pacedBody struct {
	io.ReadCloser
	limits  Limits
	control *http.ResponseController
	left    time.Duration
}

// Read reads some more of the body within the time that is left.
func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	_ = b.control.SetReadDeadline(began.Add(b.left))
	n, err := b.ReadCloser.Read(p)
	b.left += b.limits.due(n) - time.Since(began)
	if err == io.EOF {
		// From here on net/http listens for the client's going away, which
		// must not run into the deadline.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// paceAnswers holds clients to the least rate at which they take an answer. It
// works on connections, so that it covers everything that is ever written, and
// only while something is: a stream may be silent.
func (l Limits) paceAnswers(listener net.Listener) net.Listener {
	return &pacedListener{listener, l}
}

type pacedListener struct {
	net.Listener
	limits Limits
}

// Accept returns the next connection.
func (l *pacedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pacedConn{connection, l.limits}, nil
}

type pacedConn struct {
	net.Conn
	limits Limits
}

// Write writes within the time that so many bytes may take.
func (c *pacedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.limits.Stall + c.limits.due(len(p)))); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
