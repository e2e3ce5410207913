package ambit

import (
	"fmt"
	"slices"
	"strings"
)

// readier is what a part of the application may also be that has something to
// check or to say before the application is served.
type readier interface {
	// Ready returns what the operator should know, one sentence without a full
	// stop or nothing, and why the part cannot work.
	Ready() (notice string, err error)
}

// Notices returns what the operator should know before the application is
// served, such as that its ledger keeps nothing when the process ends: whoever
// serves it logs them. It freezes the application.
func (a *App) Notices() []string {
	_ = a.Freeze()
	return slices.Clone(a.notices)
}

// ready asks the parts for their notices and faults.
func (a *App) ready() (faults []error) {
	if a.recorder == nil && slices.ContainsFunc(a.entries, func(e *entry) bool { return e.contract.spec.Effect >= Execute }) {
		a.notices = append(a.notices, "no audit record is kept of what executes, reaches out or destroys: package trust/audit has one, for Options.Ledger")
	}
	if a.approves() && a.options.Resolve == nil && a.options.Policy == nil {
		a.notices = append(a.notices, "who has approved a call counts as permitted to for as long as the approval may be used, whatever happens to the permission meanwhile: set Options.Resolve, or a Policy that looks it up")
	}
	if names := a.unseen(); len(names) > 0 {
		a.notices = append(a.notices, "whoever confirms or decides about a call of "+strings.Join(names, ", ")+" is shown its input and not what it would destroy: add WithPreview to the capability")
	}
	part, ok := a.options.Ledger.(readier)
	if !ok {
		return nil
	}
	notice, err := part.Ready()
	if err != nil {
		faults = append(faults, fmt.Errorf("ambit: Options.Ledger: %w", err))
	}
	if notice != "" {
		a.notices = append(a.notices, notice)
	}
	return faults
}

// unseen names the destructive capabilities that cannot say what a call would
// destroy, as far as they are loaded.
func (a *App) unseen() (names []string) {
	for _, e := range a.entries {
		made := e.implementation.Load()
		if e.contract.spec.Effect == Destructive && made != nil && !made.binding.newFrame().previews() {
			names = append(names, e.contract.spec.Name)
		}
	}
	return names
}
