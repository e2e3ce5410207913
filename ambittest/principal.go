package ambittest

import "github.com/ambit-dev/ambit"

// authority vouches for the principals that this package makes.
const authority = "test"

// User returns a person of that name who holds the permissions, as far as the
// application has no policy of its own, and no scopes that would limit them.
// The caller may change it before it is used.
func User(subject string, permissions ...string) *ambit.Principal {
	return &ambit.Principal{Authority: authority, Subject: subject, Permissions: permissions, Unscoped: true}
}

// Agent returns a program that a model steers, otherwise as [User].
func Agent(subject string, permissions ...string) *ambit.Principal {
	p := User(subject, permissions...)
	p.Kind = ambit.KindAgent
	return p
}

// Anonymous returns a caller who shows no credential.
func Anonymous() *ambit.Principal { return &ambit.Principal{Kind: ambit.KindAnonymous} }
