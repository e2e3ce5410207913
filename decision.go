package ambit

// Decision is what the gate makes of a call before anyone is asked.
type Decision uint8

// The decisions.
const (
	// DecisionAllow lets the call run, unless the application's monitor has
	// something against it.
	DecisionAllow Decision = iota
	// DecisionAsk lets it run with somebody's word.
	DecisionAsk
	// DecisionBlock refuses it, whatever anybody says.
	DecisionBlock
)

var decisionNames = [...]string{"allow", "ask", "block"}

// String returns the decision's name in lower case, or "invalid".
func (d Decision) String() string {
	if int(d) >= len(decisionNames) {
		return "invalid"
	}
	return decisionNames[d]
}

// Decide returns what the gate makes of a call of the capability in a mode, and
// whose word it takes where it asks, if the call came by the surfaces of via:
// the table of [Mode] with what Approval adds to it. The gate goes by it, and so
// can whoever wants to show what an application lets run. It is for callers who
// are no agents and are carried by none. The mode must not be ModeUnset.
func (s *Spec) Decide(m Mode, via Surface) (Decision, Approval) {
	return s.decide(m, via, false)
}

func (s *Spec) decide(m Mode, via Surface, byAgent bool) (Decision, Approval) {
	decision := m.decide(s.Effect)
	if decision == DecisionAllow && s.Approval != ApprovalUnset {
		decision = DecisionAsk
	}
	return decision, requirement(s, via, byAgent)
}

// decide is the table of Mode.
func (m Mode) decide(e Effect) Decision {
	var free Effect // the gravest effect that is allowed without asking
	switch m {
	case ModeAuto:
		free = External
	case ModeGuarded:
		free = Write
	case ModeDefault, ModePlan:
		free = Read
	}
	switch {
	case e <= free:
		return DecisionAllow
	case m == ModePlan:
		return DecisionBlock
	}
	return DecisionAsk
}
