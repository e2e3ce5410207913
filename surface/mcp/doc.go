// Package mcp serves an application's capabilities as tools of the Model Context
// Protocol, over Streamable HTTP and over standard input and output.
//
//	server, err := mcp.New(app, mcp.Options{Trust: options})
//	http.Handle("/mcp", server)
//
// # Revisions
//
// One endpoint speaks four revisions of the protocol, chosen anew for each
// request. A request that names 2026-07-28 in its MCP-Protocol-Version header
// and its _meta is complete in itself; without either it follows 2025-03-26,
// until a header names 2025-06-18 or 2025-11-25, as clients do after initialize.
// Nothing is kept between requests, so that any instance can answer any of them.
//
// # Tools
//
// Every capability exposed on [ambit.MCP] is a tool. A caller is listed what it
// can call now, a page at a time; what it is not listed does not exist for it.
// Hints derive from the capability's effect. A result has the capability's text
// form, and its output as structured content where the revision has that.
//
// # Errors
//
// A JSON-RPC error tells of a broken request: no JSON, no such method, no such
// tool, headers that contradict the message. A caller who has shown no
// credential, or one whose scopes do not suffice, is answered by HTTP itself,
// with a challenge. Everything else that can go wrong with a call is a result
// with isError whose text is the error object of [ambit.Error].
//
// # Without HTTP
//
// [Server.NewSession] answers messages from anywhere, [Server.ServeStdio] those
// of a pair of streams. Both work for a principal that the program vouches for.
//
// The keys of _meta, the headers and the limits are in docs/mcp.md.
package mcp
