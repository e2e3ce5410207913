package mcp

import (
	"net/http"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/negotiate"
	"github.com/ambit-dev/ambit/trust"
)

// post is one HTTP request and its answer. What it is made of is in one
// allocation.
type post struct {
	*Server
	w        http.ResponseWriter
	r        *http.Request
	id       string
	identity *trust.Identity
	exchange exchange
	stream   stream
}

// ServeHTTP answers one request to the endpoint, whatever its path is. It is
// the Streamable HTTP transport without sessions: POST carries messages, there
// is no stream to GET, and nothing that DELETE could end.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.sessionsOnly {
		http.NotFound(w, r)
		return
	}
	p := &post{Server: s, w: w, r: trust.WithoutCookies(r), id: trust.RequestID(r)}
	var refused *ambit.Error
	if p.identity, refused = s.guard.Admit(p.r); refused != nil {
		p.refuse(refused)
		return
	}
	// A caller who could show a credential and shows none is told so, whatever
	// was asked for (rule T02).
	if p.identity.Anonymous() && s.guard.Authenticates() {
		p.refuse(s.guard.Unauthenticated())
		return
	}
	if !p.method() {
		return
	}
	takesStream, refused := p.negotiate()
	if refused != nil {
		p.refuse(refused)
		return
	}
	p.post(takesStream)
}

// method answers methods other than POST, and then reports false. Clients of
// older revisions end their session with DELETE; there is none to end.
func (p *post) method() bool {
	switch {
	case p.r.Method == http.MethodPost:
		return true
	case p.r.Method == http.MethodDelete && !p.modern():
		p.headers(-1, "")
		p.w.WriteHeader(http.StatusNoContent)
		return false
	}
	allow := "DELETE, POST"
	if p.modern() {
		allow = "POST"
	}
	p.w.Header()["Allow"] = []string{allow}
	p.refuse(ambit.Errorf(ambit.CodeMethodNotAllowed, "MCP is served by POST here.").WithHint("Send each message as a POST."))
	return false
}

// modern reports whether a request without a message is of a modern client, or
// nobody else is served.
func (p *post) modern() bool {
	values := p.r.Header[headerVersion]
	return p.least.modern() || len(values) == 1 && revisionOf(values[0]).modern()
}

// negotiate checks the headers that say what the client sends and takes.
func (p *post) negotiate() (stream bool, refused *ambit.Error) {
	header := p.r.Header
	switch {
	case !negotiate.IsJSON(header["Content-Type"]):
		return false, ambit.Errorf(ambit.CodeUnsupportedMediaType, "The body must be JSON.").WithHint("Send Content-Type: application/json.")
	case len(header["Content-Encoding"]) > 0:
		return false, ambit.Errorf(ambit.CodeUnsupportedMediaType, "The body must not have a content encoding.").
			WithHint("Send the JSON as it is, without a Content-Encoding header.")
	}
	json, stream := accepts(header["Accept"])
	if !json {
		return false, ambit.Errorf(ambit.CodeNotAcceptable, "Answers are JSON, or event streams where a call reports on its way.").
			WithHint("Send Accept: application/json, text/event-stream.")
	}
	return stream, nil
}

// post answers the message or batch of the body.
func (p *post) post(takesStream bool) {
	b := p.buffers()
	defer p.put(b)
	var refused *ambit.Error
	if b.in, refused = trust.ReadBody(p.w, p.r, p.identity, b.in, p.maxMessage); refused != nil {
		if refused.Code == ambit.CodeInvalidInput {
			p.fail(nil, 0, &rpcError{number: numberParse, message: refused.Message})
			return
		}
		p.refuse(refused)
		return
	}
	x := &p.exchange
	*x = exchange{
		Server: p.Server, buffers: b, ctx: p.guard.Context(p.r, p.identity), principal: p.identity.Principal, identity: p.identity,
		agent: p.guard.Settle(p.r, p.identity, b.in), request: p.id, header: p.r.Header, http: true,
	}
	p.stream.post = p
	if takesStream {
		x.listener = &p.stream
	}
	if !p.answer(x) {
		return
	}
	if x.refused != nil {
		x.status = p.guard.Challenge(p.w.Header(), p.r, p.identity, x.refused)
	}
	if !p.stream.finish(x.out, x.status) {
		b.out = nil // HTTP/2 may still hold it
	}
}

// answer lets the server answer the body, and reports false where that has
// been sent already.
func (p *post) answer(x *exchange) bool {
	if batched(x.in) {
		return p.answerBatch(x)
	}
	m, failure := parse(x.in)
	if failure != nil {
		p.fail(nil, 0, failure)
		return false
	}
	if x.revision, failure = p.choose(p.r.Header, &m); failure == nil && m.refused == nil {
		failure = agree(p.r.Header, x.revision, &m)
	}
	if failure != nil {
		p.fail(m.id, x.revision, failure)
		return false
	}
	x.respond(&m)
	return true
}

func (p *post) answerBatch(x *exchange) bool {
	var failure *rpcError
	if x.revision, failure = p.choose(p.r.Header, nil); failure != nil {
		p.fail(nil, 0, failure)
		return false
	}
	batch, failure := parseBatch(x.in, x.revision)
	if failure == nil && len(p.r.Header[headerMethod])+len(p.r.Header[headerName]) > 0 {
		failure = headerMismatch("The headers that repeat a message cannot stand with a batch.")
	}
	if failure != nil {
		p.fail(nil, x.revision, failure)
		return false
	}
	x.respondBatch(len(batch), func(i int) { x.respond(&batch[i]) })
	x.status = http.StatusOK
	return true
}

// refuse answers with an error of the application's table, in the form of a
// JSON-RPC error.
func (p *post) refuse(e *ambit.Error) {
	e = p.identity.Explain(e, p.app.Development())
	status := p.guard.Challenge(p.w.Header(), p.r, p.identity, e)
	if e.RetryAfter > 0 { // whole seconds
		p.w.Header()["Retry-After"] = []string{strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10)}
	}
	p.fail(nil, 0, &rpcError{number: e.Code.JSONRPC(), message: e.Message, data: p.errorObject(e), status: status})
}

func (p *post) fail(id []byte, r revision, failure *rpcError) {
	p.send(failure.httpStatus(r), appendError(nil, id, failure))
}

// headers sets what every answer has. A negative length leaves type and length
// of the body open. All values are in one allocation.
func (p *post) headers(length int, contentType string) {
	values := &[5]string{"no-store", "nosniff", p.id, contentType}
	header := p.w.Header()
	header["Cache-Control"] = values[0:1:1]
	header["X-Content-Type-Options"] = values[1:2:2]
	header[trust.RequestIDHeader] = values[2:3:3]
	if contentType == "" {
		return
	}
	header["Content-Type"] = values[3:4:4]
	if length >= 0 {
		values[4] = strconv.Itoa(length)
		header["Content-Length"] = values[4:5:5]
	}
}

// send writes a whole answer and reports whether that went well. The client of
// a write that failed is gone, so there is nobody to tell.
func (p *post) send(status int, body []byte) bool {
	p.headers(len(body), "application/json")
	p.w.WriteHeader(status)
	if p.r.Method == http.MethodHead {
		return true
	}
	_, err := p.w.Write(body)
	return err == nil
}
