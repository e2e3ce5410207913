package ambit

import (
	"time"

	"github.com/ambit-dev/ambit/schema"
)

// Spec is everything about a capability that is not its Go types: what agents
// read, what it does to the world, who may call it and from where. It is data.
// Name, Description, Effect and Permission are required; the zero value of
// everything else is the safe choice. A Spec is checked when its capability is
// added to an application; a mistake panics there and says what to do.
type Spec struct {
	// Name is dot-separated segments of a-z, 0-9 and underscore that start
	// with a letter, at most 64 bytes: "notes.search". With underscores for
	// dots it is the tool name of MCP, page tools and model providers.
	Name string
	// Title is a short name for people. Empty: none is published.
	Title string
	// Description tells a person or a model what the capability does and when
	// to use it.
	Description string
	// Effect is what the capability does to the world.
	Effect Effect
	// Permission is what a caller must hold: a string that the application's
	// [Policy] judges, or [Authenticated], or [Public].
	Permission string
	// Expose is the set of surfaces on which the capability may be reached.
	// Zero: none but in-process calls and the command line.
	Expose Surface
	// Callers limits the kinds of principal that may call. Empty: any.
	Callers []Kind
	// Approval is whose word a call needs, in every mode. Zero: what effect
	// and mode demand, which for an External call over HTTP is nobody's.
	Approval Approval
	// Quorum is how many persons who share nothing have to approve a call. It is
	// refused where Approval is neither Human nor FourEyes. Zero: one.
	Quorum int
	// DecidePermission is what those persons have to hold. Empty: what
	// [Options.DecidePermission] says.
	DecidePermission string
	// ConfirmWithin is how long a confirmation of a call can be used, DecideWithin
	// how long its proposal waits for a decision, and ExecuteWithin how long after
	// the decision it can be made. Zero: what [Options] say, 120 seconds, 24 hours
	// and 15 minutes unless set.
	ConfirmWithin, DecideWithin, ExecuteWithin time.Duration
	// RecordInput lets an audit record keep the inputs of calls, secrets left
	// out, and not their digests alone.
	RecordInput bool
	// GrantBy names the members of the input that an answer "for this session"
	// is bound to. Empty: the whole input. It is of no use for a write, whose
	// grants hold for the capability, and illegal for a destructive effect.
	GrantBy []string
	// Scopes are what a credential that is limited to scopes must carry, all
	// of them. Empty: none.
	Scopes []string
	// AgentPolicy is what the capability wants of the agent that carries a call.
	// Zero: what [Options.AgentPolicy] says.
	AgentPolicy AgentPolicy
	// Revision is any text that changes when the capability begins to mean
	// something else while the rest of its contract stays: what was recorded or
	// allowed before then holds no longer. Empty: a revision like any other.
	Revision string
	// Idempotent says that calling twice with one input does no more than
	// calling once. It is a hint that agents are shown.
	Idempotent bool
	// Replay is what the repetition of a call gets that has an idempotency key or
	// was made by somebody's word. Zero: the outcome that the call had, which is kept
	// for it, sealed. ReplayReceipt is refused for a read without Approval, whose
	// outcome nobody keeps.
	Replay Replay
	// Untrusted says that results carry text from elsewhere, such as what users
	// or other sites have written. Catalogs say so, so that a client can keep
	// such text from steering its model; Ambit itself does nothing else with
	// it.
	Untrusted bool
	// Path is the HTTP path under the API's prefix, made of static segments.
	// Empty: the name with slashes for dots.
	Path string
	// PublishOutput puts the output schema into catalogs. It is false by
	// default because every client pays for the catalog in every session.
	PublishOutput bool
	// Examples are inputs that show how to call it, published where a surface
	// has room for them. Each is checked against the input schema.
	Examples []Example
	// Unions say what the interface types within the Go types stand for.
	Unions []schema.Union
	// Deadline is how long a call may take once its handler starts. Zero: the
	// application's, 30 seconds unless set.
	Deadline time.Duration
	// Rate is how often one principal may call the capability, from wherever,
	// and in calls of other capabilities too. Zero: as often as it may call at
	// all, see [Limits].
	Rate Rate
	// MaxInput is the most bytes that an input may have. Zero: the
	// application's, 1 MiB unless set.
	MaxInput int
	// MaxResult is the most bytes that a result may have. Zero: the
	// application's, 1 MiB unless set.
	MaxResult int
}

// Example is one input of a capability that shows how to call it.
type Example struct {
	// Title says in a few words what the example does.
	Title string
	// Input is the JSON text of the input.
	Input string
}
