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
	who      *ambit.Principal // who did it
	reason   string
	verdict  string
	preview  ambit.Digest
	version  string
	grant    string // by which it was said
}

// proposed is the happening of a question.
func proposed(id string, p *ambit.Proposal) happening {
	return happening{kind: audit.KindProposal, id: id, proposal: p, who: p.Requester, reason: p.Reason, preview: p.Preview, version: p.Version}
}

// decided is the happening of somebody's word.
func decided(kind, id string, p *ambit.Proposal, d *Decision) happening {
	return happening{kind: kind, id: id, proposal: p, who: d.Principal, reason: d.Reason, verdict: d.Verdict.String(), preview: d.Preview, version: p.Version, grant: d.Grant}
}

// reopened is the happening of decisions that no longer count.
func reopened(r *Record, c *Change, because *ambit.Principal) happening {
	return happening{kind: audit.KindDecision, id: r.ID, proposal: &r.Proposal, who: because, verdict: "reconsider", preview: c.Preview, version: c.Version}
}

// entry is what the audit log says of it. The call, its run and its request are
// those that asked.
func (h *happening) entry() audit.Record {
	p := h.proposal
	r := audit.Record{
		Kind: h.kind, Tenant: p.Binding.Tenant, Principal: h.who.Key(), PrincipalKind: h.who.Kind.String(), Agent: audit.NewAgent(p.Agent),
		Capability: p.Binding.Capability, Effect: p.Effect.String(), Via: p.Via.String(), Run: p.Run.String(), Call: p.Call.String(), Request: p.Request,
		Proposal: h.id, Reason: h.reason, Level: p.Level.String(), Quorum: p.Quorum, Verdict: h.verdict, Version: h.version,
		Grant: h.grant,
	}
	if h.preview != (ambit.Digest{}) {
		r.Preview = hex.EncodeToString(h.preview[:])
	}
	return r
}

// granted is what the audit log says of a grant that somebody gives or revokes.
func granted(g *Grant, d *Decision, verdict string) func() audit.Record {
	return func() audit.Record {
		return audit.Record{
			Kind: audit.KindGrant, Tenant: g.Tenant, Principal: d.Decider, PrincipalKind: d.Principal.Kind.String(),
			Capability: g.Capability, Reason: d.Reason, Verdict: verdict, Grant: g.ID,
			Granted: &audit.Granted{
				To: g.Principal, Client: g.Client, Agent: g.Agent, Contract: hex.EncodeToString(g.Contract[:]),
				Input: g.Input, Until: g.Until.UTC(), Budget: g.Budget, Used: g.Used,
			},
		}
	}
}

// record makes a change of a proposal, with an entry of the audit log in the same
// transaction where there is one.
func (a *Approvals) record(ctx context.Context, h happening, change func(ctx context.Context, id string, e *audit.Entry) (changed bool, err error)) error {
	return a.onRecord(ctx, h.entry, func(ctx context.Context, e *audit.Entry) (bool, error) { return change(ctx, h.id, e) })
}

// onRecord makes a change of the store, with an entry as record does.
func (a *Approvals) onRecord(ctx context.Context, entry func() audit.Record, change func(ctx context.Context, e *audit.Entry) (changed bool, err error)) error {
	if a.audit == nil {
		_, err := change(ctx, nil)
		return err
	}
	return a.audit.With(ctx, entry(), func(ctx context.Context, e audit.Entry) (bool, error) { return change(ctx, &e) })
}
