package webbotauth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
)

// What a [Signer] does unless its [SignerOptions] say otherwise.
const (
	DefaultSigned  = time.Minute
	DefaultMaxBody = 1 << 20
)

// SignerOptions say as whom requests are signed.
type SignerOptions struct {
	// Key signs. Required.
	Key PrivateKey
	// Agent is the URL of the agent's key set, or its origin, see [Agent]. It is
	// sent as it is. Required.
	Agent string
	// Level is how much of each request is covered. Zero: ambit.AgentOnce,
	// everything that counts and a nonce.
	Level ambit.AgentLevel
	// Lifetime is how long a signature holds. Zero: one minute. At most 5
	// minutes, and 24 hours for ambit.AgentIdentified.
	Lifetime time.Duration
	// MaxBody is how many bytes a body may have that is read to sign its digest.
	// Zero: 1 MiB.
	MaxBody int64
}

// Signer signs requests as an agent does, in the dictionary form of
// draft-ietf-webbotauth-httpsig-protocol-01. Make one with [NewSigner]. It is
// immutable and safe for concurrent use.
type Signer struct {
	options SignerOptions
	agent   string // the value of Signature-Agent
	now     func() time.Time
}

// NewSigner checks the options and returns their signer.
func NewSigner(o SignerOptions) (*Signer, error) {
	if o.Key.private == nil {
		return nil, errNoKey
	}
	if _, ok := identify(o.Agent, false); !ok {
		return nil, fmt.Errorf("webbotauth: SignerOptions.Agent is %q: give the https URL of the agent's key set, or its origin", o.Agent)
	}
	agent, err := messagesig.Text(label, o.Agent)
	if err != nil {
		return nil, fmt.Errorf("webbotauth: SignerOptions.Agent is %q: %w", o.Agent, err)
	}
	if o.Level == ambit.AgentNone {
		o.Level = ambit.AgentOnce
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultSigned
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	most := DefaultBoundLifetime
	if o.Level == ambit.AgentIdentified {
		most = DefaultLifetime
	}
	switch {
	case o.Level > ambit.AgentOnce:
		return nil, errors.New("webbotauth: SignerOptions.Level is none of those that exist")
	case o.Lifetime < time.Second || o.Lifetime > most:
		return nil, fmt.Errorf("webbotauth: SignerOptions.Lifetime is %s: give 1s to %s", o.Lifetime, most)
	case o.MaxBody < 0:
		return nil, errors.New("webbotauth: SignerOptions.MaxBody is negative")
	}
	return &Signer{options: o, agent: agent, now: time.Now}, nil
}

// Sign signs a request that is about to be sent: it sets Signature-Agent,
// Signature-Input and Signature, and Content-Digest where there is a body, which
// it reads for that and puts back. What it covers must not be changed
// afterwards; headers that carry authority are covered where they are there, so
// set them before. It fails where the request is signed already, and where the
// body is too large or cannot be read.
func (s *Signer) Sign(r *http.Request) error {
	for _, name := range [...]string{"Signature", "Signature-Input", "Signature-Agent"} {
		if len(r.Header[name]) > 0 {
			return fmt.Errorf("webbotauth: the request has a %s header already", name)
		}
	}
	if r.URL == nil || r.URL.Host == "" && r.Host == "" {
		return errors.New("webbotauth: the request has no host")
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	body := false
	if s.options.Level >= ambit.AgentRequest {
		var err error
		if body, err = s.digest(r); err != nil {
			return err
		}
	}
	r.Header["Signature-Agent"] = []string{s.agent}
	input, signature, err := s.sign(r, components(s.options.Level, r.Header, body, false))
	if err != nil {
		delete(r.Header, "Signature-Agent")
		return fmt.Errorf("webbotauth: %w", err)
	}
	r.Header["Signature-Input"], r.Header["Signature"] = []string{input}, []string{signature}
	return nil
}

func (s *Signer) sign(r *http.Request, list []messagesig.Component) (input, signature string, err error) {
	now := s.now()
	p := messagesig.Params{
		Created: now, Expires: now.Add(s.options.Lifetime), KeyID: s.options.Key.public.thumbprint, Alg: "ed25519", Tag: Tag,
	}
	if s.options.Level == ambit.AgentOnce {
		p.Nonce = newNonce()
	}
	return messagesig.Sign(outgoing(r), label, list, p, s.options.Key.sign)
}

// outgoing is what a signature can cover of a request that will be sent.
func outgoing(r *http.Request) *messagesig.Message {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	scheme := strings.ToLower(r.URL.Scheme)
	return &messagesig.Message{
		Method: method, Scheme: scheme, Authority: messagesig.Authority(scheme, host),
		Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header,
	}
}

// digest reads the body, sets its digest, and puts it back.
func (s *Signer) digest(r *http.Request) (body bool, err error) {
	delete(r.Header, "Content-Digest")
	if r.Body == nil || r.Body == http.NoBody {
		return false, nil
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, s.options.MaxBody+1))
	if closing := r.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return false, fmt.Errorf("webbotauth: reading the body to sign it: %w", err)
	}
	if int64(len(content)) > s.options.MaxBody {
		return false, fmt.Errorf("webbotauth: the body has more than the %d bytes of SignerOptions.MaxBody", s.options.MaxBody)
	}
	if len(content) == 0 {
		r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
		return false, nil
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(content))
	r.Header["Content-Digest"] = []string{messagesig.Digest(content)}
	return true, nil
}

// Transport returns a RoundTripper that signs each request, a copy of it, and
// sends it by base; nil is http.DefaultTransport. A request that is sent again,
// as after a redirect, is signed again, for where it goes then.
func (s *Signer) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &signing{signer: s, base: base}
}

type signing struct {
	signer *Signer
	base   http.RoundTripper
}

func (t *signing) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	for _, name := range [...]string{"Signature", "Signature-Input", "Signature-Agent"} {
		delete(own.Header, name) // of the request before a redirect
	}
	if err := t.signer.Sign(own); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return t.base.RoundTrip(own)
}
