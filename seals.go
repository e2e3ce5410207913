package ambit

import (
	"crypto/rand"
	"errors"
)

// seals are what the core seals with, one sealer for each purpose.
type seals struct {
	cursors, outcomes *Sealer
	// confirmations, inputs and summaries are nil without a ring: what they seal
	// has to outlive the process.
	confirmations     *Sealer
	inputs, summaries *reviewSealer
}

// newSeals derives the sealers of an application. Without a ring, cursors and
// outcomes are sealed with a key that ends with the process.
func newSeals(ring *KeyRing, review *ReviewKeys, application string) (s seals) {
	if ring == nil {
		secret := make([]byte, MinKey)
		_, _ = rand.Read(secret) // crypto/rand.Read never fails (Go 1.24)
		ring = &KeyRing{keys: []Key{{Secret: secret}}}
	} else {
		s.confirmations = ring.Sealer("confirm", application)
		s.inputs, s.summaries = newReviewSealer(ring, review, "input", application), newReviewSealer(ring, review, "summary", application)
	}
	s.cursors, s.outcomes = ring.Sealer("cursor", application), ring.Sealer("outcome", application)
	return s
}

// Sealer returns what seals for a purpose of a surface or a channel, such as
// "state", with the keys of [Options.Keys]. It is nil without keys. What shows who
// a person is that decides, or what they were shown, is for [App.ReviewSealer].
func (a *App) Sealer(purpose string) *Sealer {
	if a.options.Keys == nil {
		return nil
	}
	return a.options.Keys.Sealer(purpose, a.options.Name)
}

// ReviewSealer returns what seals for a purpose of a channel in which persons
// decide, such as "form" or "login", with the halves of [Options.ReviewKeys] that
// open, so that no process without them can make what it makes; without
// ReviewKeys, with the keys of [Options.Keys]. It is nil where [App.CanReview]
// returns an error.
func (a *App) ReviewSealer(purpose string) *Sealer {
	if a.CanReview() != nil {
		return nil
	}
	if a.options.ReviewKeys == nil {
		return a.Sealer(purpose)
	}
	ring := a.options.ReviewKeys.ring()
	if ring == nil { // the last one has just reached its date
		return nil
	}
	return ring.Sealer(purpose, a.options.Name)
}

// CanReview returns nil where persons can decide in this process: it has the keys
// that open what they have to be shown. The error is for the operator, and says
// which are missing and what to do.
func (a *App) CanReview() error {
	switch keys := a.options.ReviewKeys; {
	case a.options.Keys == nil:
		return errors.New("ambit: Options.Keys is missing, without which nothing is proposed or decided: set it")
	case keys != nil && !keys.Opens():
		return errors.New("ambit: Options.ReviewKeys has no half that opens, so that nobody decides in this process: decide in one that has it, or give this one the half " +
			opensPrefix + " of " + keys.ids())
	}
	return nil
}

// reviewFaults checks what review keys need of the application.
func (o *Options) reviewFaults() (faults []error) {
	if o.ReviewKeys == nil {
		return nil
	}
	if o.ReviewKeys.len() == 0 {
		faults = append(faults, errors.New("ambit: Options.ReviewKeys holds no key: make it with ambit.ParseReviewKeys"))
	}
	if o.Keys == nil {
		faults = append(faults, errors.New("ambit: Options.ReviewKeys is set and Options.Keys is not, which seals proposals as well: set it"))
	}
	return faults
}
