package wire

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
)

// Exchange is one request as bytes, ready to be sent any number of times, and
// what makes its answer right.
type Exchange struct {
	// Path is where the request goes; the method is always POST.
	Path string
	// Header holds the request's headers besides Content-Type and Accept,
	// which every request carries.
	Header map[string]string
	// Body is the request's body.
	Body []byte
	// Verify reports why an answer's body is not the right one; nil means that
	// it is. A nil Verify accepts every body.
	Verify func(body []byte) error
}

// Bearer returns a copy of the exchange that carries a bearer token.
func (e *Exchange) Bearer(token string) *Exchange {
	c := *e
	c.Header = maps.Clone(e.Header)
	if c.Header == nil {
		c.Header = make(map[string]string)
	}
	c.Header["Authorization"] = "Bearer " + token
	return &c
}

// Request returns a new request for a handler that is called directly. The peer
// and the host are on loopback, as a handler without a server in front expects.
func (e *Exchange) Request() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+e.Path, bytes.NewReader(e.Body))
	r.RemoteAddr = "127.0.0.1:4711"
	e.SetHeader(r.Header)
	return r
}

// SetHeader sets the headers of the exchange in h.
func (e *Exchange) SetHeader(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	for name, value := range e.Header {
		h.Set(name, value)
	}
}

// Try sends the exchange to a handler once and reports why the answer is not
// status 200 with the right body; nil means that it is.
func (e *Exchange) Try(h http.Handler) error {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, e.Request())
	return e.Judge(recorder.Code, recorder.Body.Bytes())
}

// Judge reports why an answer is not status 200 with the right body; nil means
// that it is.
func (e *Exchange) Judge(status int, body []byte) error {
	if status != http.StatusOK {
		return fmt.Errorf("%s answered status %d, want 200; body: %.300s", e.Path, status, body)
	}
	if e.Verify == nil {
		return nil
	}
	if err := e.Verify(body); err != nil {
		return fmt.Errorf("%s: %w; body: %.300s", e.Path, err, body)
	}
	return nil
}
