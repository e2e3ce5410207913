package ambit

import (
	"context"
	"slices"
	"strings"
)

// Permissions with a fixed meaning. They never reach a [Policy].
const (
	// Public may be called by anyone, anonymous callers included.
	Public = "ambit:public"
	// Authenticated may be called by every principal that is not anonymous.
	Authenticated = "ambit:authenticated"
)

const reservedPermission = "ambit:"

// Policy decides whether a principal holds a permission. It is the
// application's whole permission rule; Ambit never decides that a role or a
// name means everything. Listings and calls ask the same Policy. It must be
// safe for concurrent use, must not change the principal, and should answer
// from memory: a listing asks once for every distinct permission of a page.
type Policy interface {
	// Allow reports whether the principal holds the permission. An error
	// refuses the call as unavailable; its text is logged and not sent.
	Allow(ctx context.Context, p *Principal, permission string) (bool, error)
}

// PolicyFunc makes a function a [Policy].
type PolicyFunc func(ctx context.Context, p *Principal, permission string) (bool, error)

// Allow calls f.
func (f PolicyFunc) Allow(ctx context.Context, p *Principal, permission string) (bool, error) {
	return f(ctx, p, permission)
}

// listed is the Policy of an application that names none: a principal holds
// exactly the permissions that it lists.
type listed struct{}

func (listed) Allow(_ context.Context, p *Principal, permission string) (bool, error) {
	return slices.Contains(p.Permissions, permission), nil
}

// permissionFault says what is wrong with a contract's permission, or nothing.
func permissionFault(permission string) string {
	switch {
	case permission == "":
		return "Permission is missing: name the permission a caller must hold, or ambit.Authenticated, or ambit.Public"
	case permission == Public, permission == Authenticated:
		return ""
	case strings.HasPrefix(permission, reservedPermission):
		return "permissions that start with \"ambit:\" are reserved: choose another name"
	}
	return ""
}
