package approval

import (
	"context"
	"log/slog"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Ended is how a call ended by the audit record.
type Ended struct {
	// At is when, by the clock of the process that made the call.
	At time.Time
	// Code is how. Empty: it succeeded.
	Code ambit.Code
}

// ended looks for the end of a call in the audit record. Nobody has verified that
// record here, and it may be of a claim that was given back, so that it is for a
// person to judge and settles nothing.
func (a *Approvals) ended(ctx context.Context, r *Record) *Ended {
	if a.audit == nil {
		return nil
	}
	page, _, err := a.audit.Entries(ctx, audit.Query{Tenant: r.Proposal.Binding.Tenant, Proposal: r.ID, Newest: true, Limit: 20})
	if err != nil {
		a.logger.WarnContext(ctx, "the audit record cannot be read for the end of a call", slog.String("proposal", r.ID), slog.Any("cause", err))
		return nil
	}
	for _, e := range page {
		said, err := e.Record()
		switch {
		case err != nil:
			return nil
		case said.Kind == audit.KindIntent: // of a call whose end would stand before it here
			return nil
		case said.Kind == audit.KindOutcome, said.Kind == audit.KindCall && said.Ran && !said.Replayed && !e.Time.Before(r.Claimed):
			return &Ended{At: e.Time, Code: ambit.Code(said.Code)}
		}
	}
	return nil
}

// String says how a call ended.
func (e *Ended) String() string {
	if e.Code == "" {
		return "it succeeded"
	}
	return "it failed, with " + string(e.Code)
}
