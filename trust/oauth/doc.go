// Package oauth takes OAuth 2.0 access tokens: an application with it is a protected
// resource, for MCP clients and for others, and never an authorization server.
//
//	tokens, err := oauth.New(oauth.Options{
//		Resources: []oauth.Resource{{
//			URL:       "https://notes.example.com/mcp",
//			Audiences: []string{"https://notes.example.com/mcp"},
//			Scopes:    []string{"notes"},
//		}},
//		Issuers: []oauth.Issuer{{URL: "https://login.example.com"}},
//	})
//	...
//	defer tokens.Close()
//	err = serve.ListenAndServe(ctx, addr, app, serve.Options{
//		Trust: trust.Options{Authenticators: []trust.Authenticator{tokens}, PublicURL: "https://notes.example.com"},
//	})
//
// # How a client gets in
//
// A request without a token is answered 401 with a challenge that names the
// resource's metadata (RFC 9728), which names the authorization servers. Package
// serve publishes the metadata; where a surface stands on a mux of one's own,
// [trust.Front] does. A token that does not hold is 401 with error="invalid_token", one whose
// scopes do not reach a capability 403 with error="insufficient_scope" and all the
// scopes that it takes, so that the client can obtain another. A request that sends
// a token in two ways, or in its query, is 400.
//
// # Which tokens hold
//
// A signed token (RFC 9068) holds where its issuer is listed, the signature is by a
// key that the issuer publishes, the audience is one of the resource's, exp has not
// come, and type and tenant are right. Other tokens, and those of issuers that can
// take a token back, are checked by introspection (RFC 7662), or by the application
// itself. What was found out is remembered for a minute at most, by the token's
// hash, and forgotten when the issuer's keys change.
//
// A token that is bound to its sender, by DPoP (RFC 9449) or a client certificate
// (RFC 8705), holds with the proof only. A resource can require either.
//
// # Who is calling
//
// The principal's authority is the issuer's URL, so that one subject at two issuers
// is two callers. By default it has the token's subject, client, scopes, roles and
// tenant, and no permission: the application's policy gives those, or
// [Options.Principal].
//
// # When an issuer is down
//
// Nothing is fetched at the start. Until an issuer's keys were loaded once, its tokens
// are answered 503, because 401 would send every client to an authorization server
// that does not answer. Later the last keys are kept until the issuer is back.
package oauth
