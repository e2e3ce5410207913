package ambittest

import "github.com/ambit-dev/ambit"

// CheckVersions checks that every capability with a preview minds what was
// allowed: that its handler has asked for it ([ambit.Call.Approval]) wherever the
// preview named a version, since the target can change between the last look and
// the change. It goes by the calls that this host has made so far, so a test
// makes one of each before, by [Client.Confirm] or with a [Prompter]; a capability
// of which none has run with somebody's word fails the test too.
func (h *Host) CheckVersions() {
	h.t.Helper()
	ran := map[string]bool{}
	for _, e := range h.Events() {
		if e.Level == ambit.ApprovalUnset {
			continue
		}
		ran[e.Capability] = true
		if e.Version != "" && !e.VersionSeen {
			h.t.Errorf("%s ran by somebody's word about the version %s and never looked which one it was: ask ambit.FromContext(ctx).Approval()", e.Capability, e.Version)
		}
	}
	for _, contract := range h.app.Capabilities() {
		if name := contract.Name(); h.app.Previews(name) && !ran[name] {
			h.t.Errorf("%s has a preview, and no call of it has run with somebody's word: confirm one first, so that this can be checked", name)
		}
	}
}
