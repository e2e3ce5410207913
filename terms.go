package ambit

import "cmp"

// Terms are what persons go by who allow calls of a capability before they are
// made.
type Terms struct {
	// Contract is the capability's, and Hash what tells it from every other, see
	// [Binding.Contract].
	Contract AnyContract
	Hash     Digest
	// DecidePermission is what a decider has to hold.
	DecidePermission string
	// Level is whose word a call of it can take at most, but for the doubts of a
	// [Monitor]: with less than Human, no call of it waits for a person.
	Level Approval
}

// Terms returns those of a capability, for channels in which persons decide. Ok is
// false where there is none of that name. It freezes the application.
func (a *App) Terms(capability string) (t Terms, ok bool) {
	if a.Freeze() != nil {
		return Terms{}, false
	}
	e := a.byName[capability]
	if e == nil {
		return Terms{}, false
	}
	spec := &e.contract.spec
	return Terms{
		Contract: e.public, Hash: e.hash, Level: requirement(spec, MCP, true),
		DecidePermission: a.decidePermission(spec),
	}, true
}

// decidePermission returns what whoever decides about calls of a capability has to
// hold.
func (a *App) decidePermission(spec *Spec) string {
	return cmp.Or(spec.DecidePermission, a.options.DecidePermission)
}
