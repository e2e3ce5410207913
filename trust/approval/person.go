package approval

import (
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
)

// persons returns the keys of all who stand for a principal: its own, and those
// of whoever is behind it.
func persons(p *ambit.Principal) []string {
	return append([]string{p.Key()}, p.Behind...)
}

// related reports whether two principals share a person. A person is the same
// one in every tenant: who acts for two customers is no second pair of eyes.
func related(a, b *ambit.Principal) bool {
	others := persons(b)
	for i, key := range others {
		others[i] = principalkey.WithoutTenant(key)
	}
	return slices.ContainsFunc(persons(a), func(key string) bool { return slices.Contains(others, principalkey.WithoutTenant(key)) })
}

// behindOf returns the keys by which a store finds out that two decisions are one
// person's: those behind, and all without their tenant.
func behindOf(p *ambit.Principal) []string {
	keys := slices.Clone(p.Behind)
	for _, key := range persons(p) {
		keys = append(keys, principalkey.WithoutTenant(key))
	}
	return keys
}

// kept returns a decider as a record has it. That the session ends in which
// somebody decided takes nothing from the decision.
func kept(p *ambit.Principal) *ambit.Principal {
	decider := *p
	decider.Expires = time.Time{}
	return &decider
}
