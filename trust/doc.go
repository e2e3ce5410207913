// Package trust decides who may come in over HTTP and what a request says about
// its sender. It judges no permission: that is the application's policy, later.
//
// # The guard
//
// Every HTTP surface has a [Guard], made from one [Options] value that all of
// them share, and asks it about each request before it reads the body:
//
//	guard, err := trust.NewGuard(app, options)
//	...
//	identity, refused := guard.Admit(r)
//
// The guard looks at these things, in this order, and the first refusal stands:
//
//  1. Host: a name of the allow list, which holds the loopback names unless
//     [Options.Hosts] says otherwise. A page whose name was pointed at this
//     machine (DNS rebinding) ends here.
//  2. The connection: without authenticators, and in development mode, only
//     connections to a loopback address are served.
//  3. Origin: a request without an Authorization header must come from the
//     application's own pages, from a page of [Options.Origins], or from no page
//     at all. There is no CORS.
//  4. The address: where too many of its requests were refused
//     ([Options.Refusals]), no authenticator is asked for a while.
//  5. The credential: each [Authenticator] is asked in order. A credential that
//     is invalid, that two authenticators read differently, or that none of
//     them knows, is refused; it never falls back to anonymous. Without any
//     credential the sender is anonymous.
//
// Then [ReadBody] reads the body within the bound for this sender, and
// [RequestID] gives the id that the request goes by in records.
//
// # Authenticators
//
// Package trust/apikey has API keys. An application adds its own way with a type
// that has the three methods of [Authenticator], and [Hinter]'s where it can say
// in words what to send.
package trust
