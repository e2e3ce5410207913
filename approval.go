package ambit

// Approval says whose word a capability needs before it runs.
type Approval uint8

// The levels of approval.
const (
	// ApprovalUnset adds nothing to what effect and mode demand; where they
	// ask, Confirm answers. A destructive call over MCP, by an assistant, a
	// sandbox or a schedule takes at least Human, whatever is said here, and so
	// does one over HTTP by a principal of KindAgent or with a verified agent: a
	// model would hand the confirmation back to itself.
	ApprovalUnset Approval = iota
	// Confirm takes a confirmation by the caller or the consent of the run's
	// own person, in every mode and for every effect, reads included.
	Confirm
	// Human takes the decision of a person where no program can reach.
	Human
	// FourEyes takes the decision of a person who shares nothing with the one
	// who asks.
	FourEyes
)

var approvalNames = [...]string{"unset", "confirm", "human", "four-eyes"}

// String returns the level's name in lower case, or "invalid".
func (a Approval) String() string {
	if int(a) >= len(approvalNames) {
		return "invalid"
	}
	return approvalNames[a]
}

// requirement returns whose word a call of the capability needs if it needs
// any, on the surfaces that caused it, where an agent has a part in it or not: a
// model would hand a confirmation back to itself.
func requirement(spec *Spec, via Surface, byAgent bool) Approval {
	need := max(spec.Approval, Confirm)
	models := via&(MCP|Assistant|Sandbox|Schedule) != 0 || byAgent && via&(HTTP|WebMCP) != 0
	if spec.Effect == Destructive && models {
		need = max(need, Human)
	}
	return need
}
