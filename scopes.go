package ambit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// broader maps a scope to every scope that includes it, itself excepted.
type broader map[string][]string

// newBroader turns [Options.ImpliedScopes] round and follows it to its ends.
func newBroader(implied map[string][]string) broader {
	b := broader{}
	for scope := range implied {
		included := map[string]bool{scope: true}
		for todo := []string{scope}; len(todo) > 0; todo = todo[1:] {
			for _, narrower := range implied[todo[0]] {
				if !included[narrower] {
					included[narrower] = true
					b[narrower] = append(b[narrower], scope)
					todo = append(todo, narrower)
				}
			}
		}
	}
	return b
}

// scopeListFault says what is wrong with a list of scopes.
func scopeListFault(scopes []string) string {
	for _, scope := range scopes {
		if fault := scopeFault(scope); fault != "" {
			return fault
		}
	}
	return ""
}

func scopeFault(scope string) string {
	for i := range len(scope) {
		if c := scope[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return fmt.Sprintf("%q is no scope: a scope is visible ASCII without quote and backslash (RFC 6749, section 3.3)", scope)
		}
	}
	if scope == "" {
		return "a scope is empty (RFC 6749, section 3.3)"
	}
	return ""
}

// impliedFaults checks [Options.ImpliedScopes].
func impliedFaults(implied map[string][]string) (faults []error) {
	for _, scope := range slices.Sorted(maps.Keys(implied)) {
		if fault := scopeListFault(append([]string{scope}, implied[scope]...)); fault != "" {
			faults = append(faults, errors.New("ambit: Options.ImpliedScopes: "+fault))
		}
	}
	return faults
}

// covers reports whether a credential's scopes include one that is needed.
func (b broader) covers(held []string, needed string) bool {
	if slices.Contains(held, needed) {
		return true
	}
	for _, scope := range b[needed] {
		if slices.Contains(held, scope) {
			return true
		}
	}
	return false
}

// Covers reports whether the scopes of a credential include one that is needed, by
// [Options.ImpliedScopes] too. It is for authenticators that judge scopes of their
// own.
func (a *App) Covers(held []string, needed string) bool { return a.broader.covers(held, needed) }

// scoped reports whether the scopes of the run's credential, and those of the
// runs that it was made in, cover what a capability needs.
func (r *Run) scoped(needed []string) bool {
	for ; r != nil; r = r.above {
		who := r.who()
		for _, scope := range needed {
			if !who.Unscoped && !r.app.broader.covers(who.Scopes, scope) {
				return false
			}
		}
	}
	return true
}
