package approval

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit"
)

// Notice says that a proposal waits for a person. It has no input, preview or
// reason: whoever takes it on its way learns nothing of those, and can decide
// nothing by it.
type Notice struct {
	// ID is the proposal's.
	ID string `json:"id"`
	// Tenant is whose proposal it is, and so who may decide. Empty: the empty
	// tenant.
	Tenant string `json:"tenant,omitempty"`
	// Capability and Title say what was asked for; Title is never empty.
	Capability string `json:"capability"`
	Title      string `json:"title"`
	// Level is whose word it takes, "human" or "four-eyes".
	Level string `json:"level"`
	// URL is where a person decides. Empty: there is no page.
	URL string `json:"url,omitempty"`
	// DecideBy is when it expires undecided.
	DecideBy time.Time `json:"decideBy"`
}

// Notifier tells people, or a program that does, of what waits for them.
type Notifier interface {
	// Notify passes a notice on. It is called by one goroutine at a time, apart
	// from the call that made the proposal, and returns when ctx ends, which it
	// does when [Approvals.Close] waits no longer. An error is logged; whether to
	// try again is the notifier's own business.
	Notify(ctx context.Context, n Notice) error
}

// NotifierFunc makes a function a [Notifier].
type NotifierFunc func(ctx context.Context, n Notice) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, n Notice) error { return f(ctx, n) }

func (a *Approvals) noticeOf(r Record) Notice {
	return Notice{
		ID: r.ID, Tenant: r.Proposal.Binding.Tenant, Capability: r.Proposal.Binding.Capability, Title: r.Proposal.Title,
		Level: r.Proposal.Level.String(), URL: a.address(r), DecideBy: r.DecideBy,
	}
}

// waits reports whether a record waits for a person.
func (r *Record) waits() bool {
	return r.Kind == ambit.KindApproval && r.State == ambit.ProposalPending && r.Proposal.Level >= ambit.Human
}
