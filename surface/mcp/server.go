package mcp

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// envelopeRoom is how many bytes a message may have beside the input that it
// carries.
const envelopeRoom = 64 << 10

// Options configure a server. The zero value serves every revision, to this
// machine alone.
type Options struct {
	// Trust says who may come in over HTTP. Browsers are held to its Origins
	// whatever they send; ListedOrigins makes no difference here.
	Trust trust.Options
	// MinProtocol is the oldest revision that is served, as in "2025-06-18".
	// Empty: "2025-03-26", the oldest that there is.
	MinProtocol string
	// ElicitURLs answers a call that waits for a person's decision with the
	// address at which it is taken, for the client to show: from 2026-07-28 on,
	// where the request declares that the client can, and where the approver knows
	// the address. It needs the application's Keys. False: such calls are answered
	// as every other client's are, approval_pending with the address in it.
	ElicitURLs bool
	// SessionsOnly says that the server is for [Server.NewSession] and
	// [Server.ServeStdio] alone, whose callers are known without authenticators:
	// over HTTP it answers every request with 404.
	SessionsOnly bool
}

// Server answers MCP for an application: it is an [http.Handler] for the one
// endpoint, and [Server.NewSession] and [Server.ServeStdio] serve without HTTP.
// Everything is prepared by [New]; a Server keeps nothing of its callers and is
// safe for concurrent use.
type Server struct {
	app   *ambit.App
	guard *trust.Guard
	least revision

	states       *ambit.Sealer // nil: no client is asked to show an address
	sessionsOnly bool

	tools  map[string]*tool // by tool name
	modern *ambit.Catalog   // tool definitions from 2026-07-28 on
	legacy *ambit.Catalog   // those before
	hello  hello

	maxMessage int
	pool       sync.Pool // of *buffers
	large      sync.Pool // *[]byte of more than maxPooled
}

// New returns the server of an application, which it freezes. It fails where
// the application or the options cannot work.
func New(app *ambit.App, o Options) (*Server, error) {
	o.Trust.ListedOrigins = true
	guard, err := trust.NewGuard(app, o.Trust)
	if err != nil {
		return nil, err
	}
	if !o.SessionsOnly {
		if err := trust.CheckRequesters(app, ambit.MCP, o.Trust); err != nil {
			return nil, err
		}
	}
	s := &Server{sessionsOnly: o.SessionsOnly, app: app, guard: guard, least: revision20250326, tools: map[string]*tool{}}
	if o.MinProtocol != "" {
		if s.least = revisionOf(o.MinProtocol); s.least == 0 {
			return nil, fmt.Errorf("mcp: Options.MinProtocol is %q: give a revision that is served, as in %q", o.MinProtocol, newest)
		}
	}
	if o.ElicitURLs {
		if s.states = app.Sealer("state"); s.states == nil {
			return nil, errors.New("mcp: Options.ElicitURLs needs ambit.Options.Keys, which seal what the client is to send back")
		}
	}
	if err := s.define(); err != nil {
		return nil, err
	}
	s.hello = newHello(app)
	s.pool.New = func() any { return new(buffers) }
	return s, nil
}

// define prepares what is known of the tools beforehand.
func (s *Server) define() (err error) {
	s.maxMessage = s.app.MaxInput()
	differ := false
	for _, c := range s.app.Capabilities() {
		spec := c.Spec()
		if !spec.Expose.Has(ambit.MCP) {
			continue
		}
		object := c.Output().IsObject()
		s.tools[c.ToolName()] = &tool{name: c.ToolName(), effect: spec.Effect, object: object}
		s.maxMessage = max(s.maxMessage, spec.MaxInput)
		differ = differ || spec.PublishOutput && !object
	}
	s.maxMessage += envelopeRoom
	if s.modern, err = s.app.Catalog(ambit.MCP, definitions(false)); err != nil {
		return err
	}
	s.legacy = s.modern
	if differ {
		s.legacy, err = s.app.Catalog(ambit.MCP, definitions(true))
	}
	return err
}

// tool is what a call needs to know of a capability before it is made.
type tool struct {
	name   string
	effect ambit.Effect
	object bool // the output is an object
}
