package approval

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Grant is a standing grant: what one person has approved before it is asked, for
// work that nobody watches. It says which calls of whom, how many, and until when.
// Where such a call has to wait for a person, it counts as that person's approval,
// by every rule by which the word counts that they would give when asked.
type Grant struct {
	// ID names the grant: 26 letters and digits that nobody can guess.
	ID string
	// Tenant and Principal are whose calls it is for: Principal is a
	// [ambit.Principal.Key], and Tenant the tenant in it.
	Tenant, Principal string
	// Client is the program that their credential has to be of, as
	// [ambit.Principal.Client], and Agent the URL of the verified agent that has to
	// carry them. Empty: they are of none, and carried by none.
	Client, Agent string
	// Capability is what may be called.
	Capability string
	// Contract is the hash of the contract under which it may be called, see
	// [ambit.Terms]: any other has other grants.
	Contract ambit.Digest
	// Input is the JSON Schema that their complete input has to satisfy, defaults
	// filled in and secret values replaced as deciders see them, so that it can tell
	// nothing of a secret. It is shown to whoever may decide, and must not hold one.
	// {} is any input. It says of each member what it can be, and has no keywords that
	// combine others or depend on them.
	Input json.RawMessage
	// Until is when it ends, by the store's clock.
	Until time.Time
	// Budget is how many calls it approves, and Used how many it has approved.
	Budget, Used int
	// DecidePermission is what takes a person to revoke it.
	DecidePermission string
	// Given is the granter's word: who, why, and when.
	Given Decision
	// Revoked is the word that has ended it. At is zero where there is none.
	Revoked Decision
}

// GrantState is how a grant stands, in words.
type GrantState string

// The states of a grant. It approves calls while it is live.
const (
	GrantLive    GrantState = "live"
	GrantUsedUp  GrantState = "used up"
	GrantExpired GrantState = "expired"
	GrantRevoked GrantState = "revoked"
)

// State returns how the grant stands at a time.
func (g *Grant) State(now time.Time) GrantState {
	switch {
	case !g.Revoked.At.IsZero():
		return GrantRevoked
	case !now.Before(g.Until):
		return GrantExpired
	case g.Used >= g.Budget:
		return GrantUsedUp
	}
	return GrantLive
}

// Covers reports whether a call is one of those that the grant is for, but for the
// input.
func (g *Grant) Covers(b ambit.Binding) bool {
	return g.Tenant == b.Tenant && g.Principal == b.Principal && g.Client == b.Client && g.Agent == b.Agent &&
		g.Capability == b.Capability && g.Contract == b.Contract
}

// GrantFilter says which grants of one tenant to list. Members that are not zero
// narrow it.
type GrantFilter struct {
	// Tenant is whose grants; there is no way to ask for those of all.
	Tenant string
	// Principal and Capability are what they are for.
	Principal, Capability string
	// Live leaves out those that approve nothing any more.
	Live bool
	// After is the cursor that the last page ended with; empty for the first.
	After string
	// Limit is how many grants a page has at most. Zero: 50; most: 200.
	Limit int
}

// GrantStore keeps standing grants. It is a part of a [Store], since what a grant
// approves is a proposal of it. The word of a grant is its granter's, and holds no
// longer than the grant: a pending record loses it when the grant ends, and an
// approved one is executed before.
type GrantStore interface {
	// Give keeps a grant under its ID, and returns it: given now, never used, never
	// revoked.
	Give(ctx context.Context, g Grant, e *audit.Entry) (Grant, error)
	// Grant returns a grant. One that is not there is [ErrNotFound].
	Grant(ctx context.Context, tenant, id string) (Grant, error)
	// Grants returns a page of grants, newest first, and the cursor of the next page,
	// empty at the end.
	Grants(ctx context.Context, f GrantFilter) (page []Grant, next string, err error)
	// DecideByGrant adds the approval of a grant's granter to a record, as Decide
	// would, and spends one call of the grant's budget, if the grant is live by the
	// store's clock and covers the record, whose Level is Human or more; it returns
	// the record afterwards. Changed is false where any of that is not so, and
	// nothing is added or spent then. Preview is that of the decision.
	DecideByGrant(ctx context.Context, tenant, id, grant string, preview ambit.Digest, e *audit.Entry) (r Record, changed bool, err error)
	// RevokeGrant ends a grant that has not ended, used up or not, by the decision
	// given. Records that it has approved and no call has claimed are revoked by the
	// same decision, and pending ones lose its word; these are returned as they are
	// then. One that a call has claimed is approved no more where the call gives it
	// back. Changed is false where the grant is revoked or expired, and nothing is
	// done then.
	RevokeGrant(ctx context.Context, tenant, id string, d Decision, e *audit.Entry) (g Grant, lost []Record, changed bool, err error)
}
