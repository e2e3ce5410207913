package ambit

import "crypto/rand"

// seals are what the core seals with, one sealer for each purpose.
type seals struct {
	cursors, outcomes *Sealer
	// confirmations, inputs and summaries are nil without a ring: what they seal
	// has to outlive the process.
	confirmations, inputs, summaries *Sealer
}

// newSeals derives the sealers of an application. Without a ring, cursors and
// outcomes are sealed with a key that ends with the process.
func newSeals(ring *KeyRing, application string) (s seals) {
	if ring == nil {
		secret := make([]byte, MinKey)
		_, _ = rand.Read(secret) // crypto/rand.Read never fails (Go 1.24)
		ring = &KeyRing{keys: []Key{{Secret: secret}}}
	} else {
		s.confirmations, s.inputs, s.summaries = ring.Sealer("confirm", application), ring.Sealer("input", application), ring.Sealer("summary", application)
	}
	s.cursors, s.outcomes = ring.Sealer("cursor", application), ring.Sealer("outcome", application)
	return s
}

// Sealer returns what seals for a purpose of a surface or a channel, such as
// "state" or "form", with the keys of [Options.Keys]. It is nil without keys.
func (a *App) Sealer(purpose string) *Sealer {
	if a.options.Keys == nil {
		return nil
	}
	return a.options.Keys.Sealer(purpose, a.options.Name)
}
