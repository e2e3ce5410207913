package approval

import (
	"context"
	"encoding/hex"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// happening is what a change of the store is for the record.
type happening struct {
	kind     string
	id       string // of the proposal
	proposal *ambit.Proposal
	decision *Decision // nil: none was made
	verdict  string
	preview  ambit.Digest
	version  string
}

// proposed is the happening of a question.
func proposed(id string, p *ambit.Proposal) happening {
	return happening{kind: audit.KindProposal, id: id, proposal: p, preview: p.Preview, version: p.Version}
}

// decided is the happening of somebody's word.
func decided(kind, id string, p *ambit.Proposal, d *Decision) happening {
	return happening{kind: kind, id: id, proposal: p, decision: d, verdict: d.Verdict.String(), preview: d.Preview, version: p.Version}
}

// reopened is the happening of decisions that no longer count.
func reopened(r *Record, c *Change) happening {
	return happening{kind: audit.KindDecision, id: r.ID, proposal: &r.Proposal, verdict: "reconsider", preview: c.Preview, version: c.Version}
}

// entry is what the audit log says of it. The call, its run and its request are
// those that asked.
func (h *happening) entry() audit.Record {
	p, who, reason := h.proposal, h.proposal.Requester, h.proposal.Reason
	if h.decision != nil {
		who, reason = h.decision.Principal, h.decision.Reason
	}
	r := audit.Record{
		Kind: h.kind, Tenant: p.Binding.Tenant, Principal: who.Key(), PrincipalKind: who.Kind.String(), Agent: audit.NewAgent(p.Agent),
		Capability: p.Binding.Capability, Effect: p.Effect.String(), Via: p.Via.String(), Run: p.Run.String(), Call: p.Call.String(), Request: p.Request,
		Proposal: h.id, Reason: reason, Level: p.Level.String(), Quorum: p.Quorum, Verdict: h.verdict, Version: h.version,
	}
	if h.preview != (ambit.Digest{}) {
		r.Preview = hex.EncodeToString(h.preview[:])
	}
	return r
}

// record makes a change of the store, with an entry of the audit log in the same
// transaction where there is one.
func (a *Approvals) record(ctx context.Context, h happening, change func(ctx context.Context, id string, e *audit.Entry) (changed bool, err error)) error {
	if a.audit == nil {
		_, err := change(ctx, h.id, nil)
		return err
	}
	return a.audit.With(ctx, h.entry(), func(ctx context.Context, e audit.Entry) (bool, error) {
		return change(ctx, h.id, &e)
	})
}
