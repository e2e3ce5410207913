// Package httpapi serves an application's capabilities as a JSON API.
//
//	handler, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{...}})
//
// Only capabilities that are exposed on ambit.HTTP exist here. Most programs use
// package serve, which puts this API and MCP on one handler.
//
// # Calls
//
// A call is POST {prefix}{path} with the input as its JSON body. The prefix is
// /api/ unless [Options.Prefix] says otherwise; the path is the capability's own
// ([ambit.Spec.Path]) or its name with slashes for dots. One slash at the end is
// ignored. No body means {}. Nothing is read from the query.
//
//	POST /api/notes/search
//	Content-Type: application/json
//
//	{"query":"roadmap"}
//
// The answer is {"ok":true,"data":OUTPUT} with status 200, or
// {"ok":false,"error":ERROR} with the status of the error's code; ERROR is the
// JSON form of [ambit.Error].
//
// Headers of a request: Authorization (see package trust), Content-Type, which
// must be application/json where there is a body, Accept, Ambit-Reason (one line
// about why the call is made), Ambit-Mode (a stricter mode than the
// application's), Ambit-Confirmation (the token that confirms this very call),
// Idempotency-Key, X-Request-Id, traceparent and tracestate (for
// observers). Headers of every answer: X-Request-Id, Cache-Control: no-store and
// X-Content-Type-Options; where they apply Allow, WWW-Authenticate, Retry-After
// and Idempotency-Replayed.
//
// # Listing
//
// GET {prefix} lists what this caller can call, a page at a time, with the
// schema of each input:
//
//	{"ok":true,"data":{"capabilities":[{"name":"notes.search",...}],"nextCursor":"..."}}
//
// The query parameters are cursor and limit (1 to 100, which is the default).
//
// # What strangers learn
//
// A path without a capability, and one whose capability this caller may not
// know of, answer alike for every method and body. Where the application has
// authenticators, a caller without a credential gets 401 for both.
//
// # The handler's context
//
// A capability's handler gets a context that descends from the request's: what
// the application's own net/http middleware put into it is there, and it ends
// when the client goes away. Principal and surface are not taken from it.
package httpapi
