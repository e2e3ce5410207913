package ambittest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
)

// callerKey is where a request's context holds the principal who sends it.
type callerKey struct{}

// credential stands for whatever proves who a client is. It proves nothing by
// itself: byContext looks for the principal in the context, which no request
// from outside can fill.
const credential = "Test principal"

// byContext is the authenticator of a test host.
type byContext struct{}

func (byContext) Name() string { return "ambittest" }

func (byContext) Authenticate(r *http.Request) (*trust.Identity, error) {
	given := r.Header.Get("Authorization")
	if given == "" {
		return nil, nil
	}
	p, ok := r.Context().Value(callerKey{}).(*ambit.Principal)
	if !ok || given != credential {
		return nil, errors.New("not a request of this test host")
	}
	return &trust.Identity{Principal: p}, nil
}

func (byContext) Challenge(*http.Request) string { return "Test" }

// request makes a request that comes over a connection of this machine.
func (c *Client) request(method, target, body string) *http.Request {
	c.host.t.Helper()
	ctx := context.WithValue(c.host.context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	if !c.principal.Anonymous() {
		if c.principal.Authority == "" {
			c.host.t.Fatalf("%s: the principal has no authority: over HTTP somebody has to vouch for a caller", c.describe("a request"))
		}
		ctx = context.WithValue(ctx, callerKey{}, c.principal)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, strings.NewReader(body))
	if err != nil {
		c.host.t.Fatalf("%s: %v", c.describe("a request"), err)
	}
	r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1234"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if !c.principal.Anonymous() {
		r.Header.Set("Authorization", credential)
	}
	if c.token != "" {
		r.Header.Set("Ambit-Confirmation", c.token)
	}
	if c.key != "" {
		r.Header.Set("Idempotency-Key", c.key)
	}
	return r
}

// send gives a request to a handler and keeps the answer.
func (a *Answer) send(handler http.Handler, r *http.Request) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	a.Status, a.Header, a.Body = recorder.Code, recorder.Header(), recorder.Body.Bytes()
	keepFor(r.Context(), "the header of "+a.call, fmt.Sprint(a.Header))
	keepFor(r.Context(), "the body of "+a.call, string(a.Body))
}

// envelope is every answer of the JSON API.
type envelope struct {
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data"`
	Error *ambit.Error    `json:"error"`
}

// open reads the envelope. An answer that is none ends the test.
func (a *Answer) open() {
	a.t.Helper()
	var e envelope
	switch err := json.Unmarshal(a.Body, &e); {
	case err != nil:
		a.t.Fatalf("%s: want an envelope, got status %d and %v:\n%s", a.call, a.Status, err, a.Body)
	case e.OK == (e.Error != nil) || e.OK != (a.Status == http.StatusOK):
		a.t.Fatalf("%s: status %d does not fit the envelope:\n%s", a.call, a.Status, a.Body)
	}
	a.Output, a.Err = e.Data, e.Error
}

// post calls over HTTP.
func (c *Client) post(a *Answer, name, input string) {
	c.host.t.Helper()
	spec := ambit.Spec{Name: name} // where there is no such capability, its path is where it would be
	if contract := c.contract(name); contract != nil {
		spec = contract.Spec()
	}
	path := url.URL{Path: httpapi.Path(httpapi.DefaultPrefix, spec)}
	a.send(c.host.http, c.request(http.MethodPost, path.EscapedPath(), input))
	a.open()
}

// listAPI asks for a page of the listing over HTTP.
func (c *Client) listAPI(cursor string) (names []string, next string, refused *ambit.Error) {
	c.host.t.Helper()
	target := httpapi.DefaultPrefix
	if cursor != "" {
		target += "?cursor=" + url.QueryEscape(cursor)
	}
	a := &Answer{t: c.host.t, call: c.describe("the listing")}
	a.send(c.host.http, c.request(http.MethodGet, target, ""))
	if a.open(); a.Err != nil {
		return nil, "", a.Err
	}
	var page struct {
		Capabilities []struct{ Name string }
		NextCursor   string
	}
	if err := json.Unmarshal(a.Output, &page); err != nil {
		c.host.t.Fatalf("%s: want a page, got %v:\n%s", a.call, err, a.Output)
	}
	for _, capability := range page.Capabilities {
		names = append(names, capability.Name)
	}
	return names, page.NextCursor, nil
}
