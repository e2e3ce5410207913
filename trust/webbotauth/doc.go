// Package webbotauth knows agents by the signatures of their requests (Web Bot
// Auth), apart from the principals on whose behalf they come, and signs requests
// as an agent does.
//
// # Verifying
//
// An application names the agents that it knows and hands the verifier to the
// guard of its surfaces:
//
//	agents, err := webbotauth.New(webbotauth.Options{
//		Agents:    []webbotauth.Agent{{URL: "https://agent.example.com", Directory: true}},
//		PublicURL: "https://notes.example.com",
//	})
//	...
//	defer agents.Close()
//	options.Trust.Agents = agents
//
// What comes out is an ambit.AgentIdentity with a level: how much of the request
// the signature binds. Capabilities say which level they require
// (ambit.Spec.AgentPolicy).
//
//   - ambit.AgentIdentified: the host, and what the drafts ask for at least.
//   - ambit.AgentRequest: method, target, content, and every header that carries
//     authority: Authorization, Cookie, DPoP, Idempotency-Key, Ambit-* and Mcp-*.
//     The signature lives five minutes at most.
//   - ambit.AgentOnce: that, with a nonce that was not used before.
//
// A nonce is used up also where the level is lower, so that such a request is
// not believed a second time either.
//
// A request is verified, or its signature is invalid, or unverified where nobody
// knows the agent or has its keys, or it is unsigned. In all but the first case
// there is no agent, and whatever requires one is refused; which case it is, and
// why, is told in development mode and logged for agents that are known.
//
// The signatures are those of RFC 9421 with Ed25519, and Signature-Agent has the
// forms of draft-meunier-web-bot-auth-architecture to -05, of
// draft-meunier-webbotauth-httpsig-protocol, and of
// draft-ietf-webbotauth-httpsig-protocol-01, which is the newest and the one that
// is written here. Keys are an agent's own: a signature by a key that another
// agent has is none of this agent.
//
// # Being an agent
//
// [Signer] signs requests, by itself or as the transport of an http.Client;
// [GenerateKey] makes its key and [DirectoryHandler] publishes the public half.
// The commands "agent keygen" and "agent sign" of package command do the same by
// hand.
//
// # Signed responses
//
// [SignResponses] signs an application's own responses for those who ask, so that
// they can tell an old or a changed one.
package webbotauth
