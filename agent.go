package ambit

// AgentIdentity is an agent that has proved by signature that it carries a
// request (Web Bot Auth), apart from the principal on whose behalf it comes. It
// is a value: whoever is given one can change nothing by it. The zero value is no
// agent. Package trust/webbotauth verifies them.
type AgentIdentity struct {
	// URL identifies the agent: the https URL of its keys, normalized and
	// without a query. Empty: no agent was verified.
	URL string
	// Key is the key that signed, by its JWK thumbprint (RFC 7638) in base64url
	// without padding. Agent and key together are the identity; a key alone is
	// none.
	Key string
	// Level is how much of the request the signature binds.
	Level AgentLevel
	// OnceUnavailable says that the signature would bind once, and that nobody
	// could tell whether it had been used: the record of nonces did not answer.
	// Level is AgentRequest then.
	OnceUnavailable bool
}

// Verified reports whether there is an agent.
func (a AgentIdentity) Verified() bool { return a.URL != "" }

// String returns the agent's URL and key with a space between, which is what
// stores and records know it by: neither of the two has a space. It is empty
// where there is no agent.
func (a AgentIdentity) String() string {
	if !a.Verified() {
		return ""
	}
	return a.URL + " " + a.Key
}

// AgentLevel is how much of a request an agent's signature binds.
type AgentLevel uint8

// The levels, each of which includes those before it.
const (
	// AgentNone is the level where no agent was verified.
	AgentNone AgentLevel = iota
	// AgentIdentified binds the host that the request is for, and nothing else:
	// whoever sees the request can send another one with its signature until
	// that expires.
	AgentIdentified
	// AgentRequest binds method, target, content and every header that carries
	// authority: the same request can be sent again.
	AgentRequest
	// AgentOnce is AgentRequest with a nonce that had not been seen before.
	AgentOnce
)

var agentLevelNames = [...]string{"none", "identity", "request", "once"}

// String returns the level's name in lower case, or "invalid".
func (l AgentLevel) String() string {
	if int(l) >= len(agentLevelNames) {
		return "invalid"
	}
	return agentLevelNames[l]
}

// AgentPolicy says what a capability wants of the agent that carries a call. The
// calls of handlers are carried by whoever carried the outermost one. It does not
// concern what the application's own code and its command line call.
type AgentPolicy uint8

// The policies. What requires an agent is refused where the application verifies
// none.
const (
	// AgentPolicyUnset leaves it to [Options.AgentPolicy], which is AgentObserve
	// where it is unset too.
	AgentPolicyUnset AgentPolicy = iota
	// AgentOff pays no heed to agents: calls have none.
	AgentOff
	// AgentObserve tells the application which agent it is, and requires none.
	AgentObserve
	// RequireAgent requires a verified agent at AgentIdentified.
	RequireAgent
	// RequireAgentRequest requires one at AgentRequest.
	RequireAgentRequest
	// RequireAgentOnce requires one at AgentOnce. The other two that require an
	// agent are this one for a capability that is more than Read and not
	// Idempotent: such a call must not be one that somebody sends again.
	RequireAgentOnce
)

var agentPolicyNames = [...]string{"unset", "off", "observe", "require", "require-request", "require-once"}

// String returns the policy's name in lower case, or "invalid".
func (p AgentPolicy) String() string {
	if int(p) >= len(agentPolicyNames) {
		return "invalid"
	}
	return agentPolicyNames[p]
}

func (p AgentPolicy) requires() bool { return p >= RequireAgent }

// level is what a policy requires that requires an agent.
func (p AgentPolicy) level() AgentLevel { return AgentLevel(p-RequireAgent) + AgentIdentified }

// agentPolicy settles what a capability wants, from its own word and the
// application's.
func (a *App) agentPolicy(s *Spec) AgentPolicy {
	p := s.AgentPolicy
	if p == AgentPolicyUnset {
		p = a.options.AgentPolicy
	}
	switch {
	case p == AgentPolicyUnset:
		return AgentObserve
	case p.requires() && s.Effect > Read && !s.Idempotent:
		return RequireAgentOnce
	}
	return p
}

// agentRefusal judges the agent of a run for a capability.
func (r *Run) agentRefusal(p AgentPolicy) refusal {
	if !p.requires() || r.via&^CommandLine == InProcess {
		return refusal{}
	}
	need := p.level()
	switch {
	case r.agent.Level >= need:
		return refusal{}
	case need == AgentOnce && r.agent.OnceUnavailable:
		return refusal{code: CodeUnavailable, cause: errorText("the record of agents' nonces did not answer, so that nobody can tell whether the request was sent before")}
	}
	return refusal{code: CodeAgentRequired, agent: need}
}

func agentRequired(need AgentLevel) *Error {
	e := &Error{
		Code: CodeAgentRequired, Message: "This call must be carried by an agent that signs its requests and that this application knows.",
		Hint: "Sign the request by Web Bot Auth.", agent: need,
	}
	switch need {
	case AgentRequest:
		e.Hint = "Sign the request by Web Bot Auth, with method, target, content and every header that carries authority covered."
	case AgentOnce:
		e.Hint = "Sign the request by Web Bot Auth, with method, target, content and every header that carries authority covered, and a nonce of its own."
	}
	return e
}

// AgentLevel returns the level of signature that a call of CodeAgentRequired
// needs, AgentNone for every other error. It is not part of the JSON form: a
// surface asks for the signature in its own way.
func (e *Error) AgentLevel() AgentLevel { return e.agent }

// RequiredAgent returns the highest level of signature that a capability of the
// application requires of the agents that carry calls; AgentNone where none does.
func (a *App) RequiredAgent() (level AgentLevel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.entries {
		if e.agent.requires() {
			level = max(level, e.agent.level())
		}
	}
	return level
}

// Agent returns the agent that carried the request which the run is part of; the
// zero identity where none was verified.
func (r *Run) Agent() AgentIdentity {
	if r == nil {
		return AgentIdentity{}
	}
	return r.agent
}

// Agent returns the agent that carries the call; the zero identity where none was
// verified, and for capabilities of AgentOff.
func (c *Call) Agent() AgentIdentity {
	if c == nil || c.entry != nil && c.entry.agent == AgentOff {
		return AgentIdentity{}
	}
	return c.run.Agent()
}
