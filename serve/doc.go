// Package serve puts an application on one net/http handler and serves it with
// settings that hold against slow and greedy clients.
//
//	err := serve.ListenAndServe(ctx, "127.0.0.1:8080", app, serve.Options{
//		Trust: trust.Options{Authenticators: []trust.Authenticator{keys}},
//	})
//
// # What is served
//
// The JSON API of package surface/httpapi stands under /api/, MCP of package
// surface/mcp at /mcp where at least one capability is exposed on it. Every
// other path is 404. [Options.Wrap] puts the application's own handlers and
// middleware around that.
//
// [Handler] returns the same without a server, for programs that have one. It
// relies on the server for the address of each connection, as net/http's does,
// and for the limits below.
//
// # Who is served
//
// An application without authenticators answers on the machine itself and
// nowhere else, unless trust.Options.AllowUnauthenticated says so;
// [ListenAndServe] refuses to start on another address, and the handler refuses
// connections to one. Development mode is for the machine itself in any case.
//
// # Limits
//
// [Limits] says how long a client may take over a header, a body and an answer,
// and how many streams it may open. Clients that are slower lose their
// connection. A stream of events may be silent as long as its call works.
package serve
