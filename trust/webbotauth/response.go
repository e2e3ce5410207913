package webbotauth

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

// ResponseTag is the tag of the signatures of responses.
const ResponseTag = "ambit-response"

// ResponseOptions say how responses are signed.
type ResponseOptions struct {
	// Key signs. Those who ask for signatures need its public half, by a way of
	// their own or from a directory. Required.
	Key PrivateKey
	// MaxBody is how many bytes a response may have to be signed; it is held in
	// memory until it is complete. Zero: 1 MiB.
	MaxBody int
}

// SignResponses returns a handler that signs the responses of next for those
// who ask: by an Accept-Signature field (RFC 9421, section 5.1) with a member
// whose tag is [ResponseTag] and that has a nonce. The signature covers the
// status and the content's digest, and says when it was made and to which nonce
// it is the answer, so that neither another response nor an old one passes for
// it; see [CheckResponse].
//
// A response that is longer than MaxBody, or is flushed before it is complete as
// streams are, is passed on as it comes and has no signature, and neither has one
// without a body by its nature, 1xx, 204 and 304, or to HEAD, nor one whose
// handler takes over the connection. Whoever needs a signature treats its absence
// as a failure.
func SignResponses(next http.Handler, o ResponseOptions) (http.Handler, error) {
	if o.Key.private == nil {
		return nil, errNoKey
	}
	if o.MaxBody < 0 {
		return nil, errors.New("webbotauth: ResponseOptions.MaxBody is negative: leave it zero for the default")
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	return &responder{next: next, options: o, now: time.Now}, nil
}

type responder struct {
	next    http.Handler
	options ResponseOptions
	now     func() time.Time
}

func (h *responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	label, nonce, ok := asked(r.Header["Accept-Signature"])
	if !ok || r.Method == http.MethodHead {
		h.next.ServeHTTP(w, r)
		return
	}
	held := &heldResponse{ResponseWriter: w, most: h.options.MaxBody}
	h.next.ServeHTTP(held, r)
	held.finish(func(header http.Header, status int, body []byte) {
		header["Content-Digest"] = []string{messagesig.Digest(body)}
		input, value, err := messagesig.Sign(&messagesig.Message{Status: status, Header: header}, label, responseComponents,
			messagesig.Params{Created: h.now(), KeyID: h.options.Key.public.thumbprint, Alg: "ed25519", Nonce: nonce, Tag: ResponseTag}, h.options.Key.sign)
		if err == nil {
			header["Signature-Input"], header["Signature"] = []string{input}, []string{value}
		}
	})
}

var responseComponents = []messagesig.Component{{Name: "@status"}, {Name: "content-digest"}}

// asked returns which signature of the response a request asks for.
func asked(lines []string) (label, nonce string, ok bool) {
	if len(lines) == 0 {
		return "", "", false
	}
	wishes, err := messagesig.Parse(lines, nil)
	if err != nil {
		return "", "", false
	}
	for _, wish := range wishes {
		tag, _ := wish.Text("tag")
		nonce, _ := wish.Text("nonce")
		if tag == ResponseTag && len(nonce) >= minNonce && len(nonce) <= maxNonce {
			return wish.Label, nonce, true
		}
	}
	return "", "", false
}

// heldResponse holds a response back until it is complete, or has grown too
// long, or is flushed.
type heldResponse struct {
	http.ResponseWriter
	most   int
	status int // zero: not written yet
	body   bytes.Buffer
	passed bool // what comes is passed on
}

// WriteHeader keeps the status. Informational ones are passed on at once.
func (h *heldResponse) WriteHeader(status int) {
	switch {
	case h.passed || status < http.StatusOK:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0:
		h.status = status
	}
}

func (h *heldResponse) Write(p []byte) (int, error) {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if !h.passed && h.body.Len()+len(p) <= h.most {
		return h.body.Write(p)
	}
	h.pass()
	return h.ResponseWriter.Write(p)
}

// pass sends what was held, without a signature.
func (h *heldResponse) pass() {
	if h.passed {
		return
	}
	h.passed = true
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
	}
	if h.body.Len() > 0 {
		_, _ = h.ResponseWriter.Write(h.body.Bytes()) // a client that is gone is noticed by the next write
		h.body = bytes.Buffer{}
	}
}

// FlushError is what http.ResponseController and [heldResponse.Flush] call.
func (h *heldResponse) FlushError() error {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	h.pass()
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Flush makes it an http.Flusher.
func (h *heldResponse) Flush() { _ = h.FlushError() }

// Unwrap gives http.ResponseController the rest of what the writer can do. What
// is held is sent before somebody takes over.
func (h *heldResponse) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// finish signs what is complete and sends it.
func (h *heldResponse) finish(sign func(header http.Header, status int, body []byte)) {
	if h.passed {
		return
	}
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if h.status != http.StatusNoContent && h.status != http.StatusNotModified {
		sign(h.Header(), h.status, h.body.Bytes())
	}
	h.pass()
}

// AskForResponse adds to a request the wish for a signed response, and returns
// the nonce that [CheckResponse] wants. It goes before the request is signed.
func AskForResponse(r *http.Request) (nonce string, err error) {
	nonce = newNonce()
	wish, err := messagesig.Accept(label, responseComponents, []string{"created"}, nonce, ResponseTag)
	if err != nil {
		return "", err
	}
	r.Header.Add("Accept-Signature", wish)
	return nonce, nil
}

// CheckResponse reports whether a response was signed, with this body, by one of
// the keys, in answer to the request with this nonce, and not more than age ago;
// clocks may differ by half a minute. The error says what does not hold. The
// caller has read the body from the response.
func CheckResponse(response *http.Response, body []byte, nonce string, keys []Key, age time.Duration) error {
	if err := messagesig.CheckDigest(response.Header["Content-Digest"], body); err != nil {
		return err
	}
	signatures, err := messagesig.Parse(response.Header["Signature-Input"], response.Header["Signature"])
	if err != nil {
		return err
	}
	message := &messagesig.Message{Status: response.StatusCode, Header: response.Header}
	now := time.Now()
	for _, s := range signatures {
		if tag, _ := s.Text("tag"); tag != ResponseTag {
			continue
		}
		return checkResponse(s, message, nonce, keys, now, age)
	}
	return errors.New("webbotauth: the response is not signed")
}

func checkResponse(s *messagesig.Signature, m *messagesig.Message, nonce string, keys []Key, now time.Time, age time.Duration) error {
	answers, _ := s.Text("nonce")
	created, ok := s.Integer("created")
	at := time.Unix(created, 0)
	keyid, _ := s.Text("keyid")
	switch {
	case nonce == "" || answers != nonce:
		return errors.New("webbotauth: the response is signed for another request")
	case !ok || at.Before(now.Add(-age-skew)) || at.After(now.Add(skew)):
		return errors.New("webbotauth: the response was signed at another time")
	}
	for _, c := range responseComponents {
		if !s.Covers(c) {
			return errors.New("webbotauth: the response's signature does not cover " + strings.TrimPrefix(c.Name, "@"))
		}
	}
	base, err := s.Base(m)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.thumbprint == keyid && key.holds(now) && key.verifies(base, s.Value()) {
			return nil
		}
	}
	return errors.New("webbotauth: the response's signature is by none of the keys")
}
