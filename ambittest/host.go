package ambittest

import (
	"context"
	"net/http"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

// Host holds an application for one test. It is safe for concurrent use, except
// that its test must not have ended.
type Host struct {
	t          T
	app        *ambit.App
	recorder   *Recorder
	transcript *transcript
	http       http.Handler
	mcp        http.Handler
}

// New freezes the application, reads its halt sources and returns its host. A
// mistake in the options or in what the application is made of ends the test. An
// application that something has frozen before can be tested too; for its events it
// needs a [Recorder] in its options, see [Host.Events].
func New(t T, app *ambit.App) *Host {
	t.Helper()
	h := &Host{t: t, app: app, recorder: &Recorder{}, transcript: &transcript{}}
	if app.Observe(h.recorder) != nil {
		h.recorder = recorderOf(app)
	}
	if err := app.Freeze(); err != nil {
		t.Fatalf("the application cannot be used:\n%v", err)
	}
	app.ReadHaltSources(t.Context())
	return h.serve(trust.Options{Authenticators: []trust.Authenticator{byContext{}}})
}

// recorderOf returns the first recorder among the observers of an application, or
// nil.
func recorderOf(app *ambit.App) *Recorder {
	for _, o := range app.Observers() {
		if r, ok := o.(*Recorder); ok {
			return r
		}
	}
	return nil
}

// serve sets how HTTP and MCP are served.
func (h *Host) serve(o trust.Options) *Host {
	h.t.Helper()
	var err error
	if h.http, err = httpapi.New(h.app, httpapi.Options{Trust: o}); err != nil {
		h.t.Fatalf("the application cannot be served over HTTP:\n%v", err)
	}
	if h.mcp, err = mcp.New(h.app, mcp.Options{Trust: o}); err != nil {
		h.t.Fatalf("the application cannot be served over MCP:\n%v", err)
	}
	return h
}

// Open returns the host of the same application served without authenticators,
// where every caller over HTTP and MCP is anonymous.
func (h *Host) Open() *Host {
	h.t.Helper()
	open := *h
	return open.serve(trust.Options{})
}

// In returns the same host for another test, usually a part of the first.
func (h *Host) In(t T) *Host {
	other := *h
	other.t = t
	return &other
}

// App returns the application.
func (h *Host) App() *ambit.App { return h.app }

// Events returns an event for each call so far, in the order in which they
// ended. Where the application was frozen before [New] was given it, by
// approval.NewPage for instance, they are those of the [Recorder] in
// [ambit.Options.Observers], calls that were made before included. It ends the test
// where there is none.
func (h *Host) Events() []ambit.Event {
	h.t.Helper()
	if h.recorder == nil {
		h.t.Fatalf("no events: something had frozen the application before ambittest.New was given it, which approval.NewPage, App.NewRun, App.Capabilities and serving do, " +
			"so that it takes no more observers. Give ambit.New a recorder, Options{Observers: []ambit.Observer{&ambittest.Recorder{}}}, or call ambittest.New before")
		return nil
	}
	return h.recorder.Events()
}

// context is the context of a call that begins now. Nothing watches the halt
// sources in the background, so each call is preceded by a reading of them.
func (h *Host) context() context.Context {
	h.app.ReadHaltSources(h.t.Context())
	return context.WithValue(h.t.Context(), transcriptKey{}, h.transcript)
}

// ResetEvents forgets the events so far.
func (h *Host) ResetEvents() {
	if h.recorder != nil {
		h.recorder.Reset()
	}
}

// As returns a client that calls as a principal, in-process until [Client.Over]
// says otherwise. The principal must not be changed afterwards.
func (h *Host) As(p *ambit.Principal) *Client {
	h.t.Helper()
	if p == nil {
		h.t.Fatalf("no principal was given; a caller without a credential is ambittest.Anonymous()")
	}
	return &Client{host: h, principal: p}
}
