package approval

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/schema"
	"github.com/ambit-dev/ambit/trust/audit"
)

// byGrants lets the standing grants for a call say what they have to say about its
// proposal, as long as that waits for a person: those first that end first. Where
// something cannot be found out or written, that is for the operator, and the call
// waits, of which the notifiers are told as of any other. Deciders are those who have
// approved it already, see outdated.
func (a *Approvals) byGrants(ctx context.Context, r Record, p ambit.Proposal, about ambit.Inquiry, deciders []*ambit.Principal) Record {
	if about.Fits == nil || p.Level < ambit.Human || !r.waits() {
		return r
	}
	b := p.Binding
	grants, _, err := a.store.Grants(ctx, GrantFilter{Tenant: b.Tenant, Principal: b.Principal, Capability: b.Capability, Live: true, Limit: maxLiveGrants})
	for i := range grants {
		grants[i] = a.shortened(grants[i])
	}
	slices.SortFunc(grants, func(x, y Grant) int { return x.Until.Compare(y.Until) })
	for i := range grants {
		if err != nil || ctx.Err() != nil || !r.waits() {
			break
		}
		g := &grants[i]
		if !g.Covers(b) || !time.Now().Before(g.Until) {
			continue
		}
		if now := a.counts(ctx, &r, p, g, about, deciders); now != nil {
			r, err = a.decideByGrant(ctx, r, p, g)
			deciders = append(deciders, g.Given.Principal, now)
		}
	}
	if err != nil {
		a.logger.ErrorContext(ctx, "standing grants cannot be read or used, so the call waits", slog.String("proposal", r.ID), slog.Any("cause", err))
	}
	return r
}

// stillHolds reports whether what a grant has approved earlier counts now: the store
// knows when the grant ends, and not that it may hold no longer than that.
func (a *Approvals) stillHolds(ctx context.Context, tenant, grant string, about ambit.Inquiry) (bool, error) {
	if about.Fits == nil {
		return false, nil
	}
	g, err := a.store.Grant(ctx, tenant, grant)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return time.Now().Before(a.shortened(g).Until), nil
}

// counts returns who the granter of a grant is now whose word counts about this call,
// because they could approve it if asked, and the input is as the grant says. Nil: it
// does not count.
func (a *Approvals) counts(ctx context.Context, r *Record, p ambit.Proposal, g *Grant, about ambit.Inquiry, deciders []*ambit.Principal) *ambit.Principal {
	granter := g.Given.Principal
	if granter == nil || decidedBy(r, granter, p.Preview) {
		return nil
	}
	input, err := schema.Parse(g.Input)
	var now *ambit.Principal
	if err == nil {
		if !about.Fits(input) {
			return nil
		}
		now, err = mayApprove(ctx, granter, r, p, about, deciders)
	}
	if err != nil && !isForbidden(err) {
		a.logger.WarnContext(ctx, "a standing grant does not count, because it cannot be judged", slog.String("grant", g.ID), slog.String("proposal", r.ID), slog.Any("cause", err))
	}
	return now
}

// decideByGrant has the store add the granter's word, unless the grant has ended in
// the meantime.
func (a *Approvals) decideByGrant(ctx context.Context, r Record, p ambit.Proposal, g *Grant) (now Record, err error) {
	d := g.Given
	d.Verdict, d.Preview, d.Grant = Approve, p.Preview, g.ID
	changed := false
	err = a.record(ctx, decided(audit.KindDecision, r.ID, &p, &d), func(ctx context.Context, id string, e *audit.Entry) (bool, error) {
		now, changed, err = a.store.DecideByGrant(ctx, g.Tenant, id, g.ID, d.Preview, e)
		return changed, err
	})
	if err != nil {
		return r, err
	}
	if changed {
		a.logger.InfoContext(ctx, "proposal approved by a standing grant", slog.String("proposal", r.ID), slog.String("grant", g.ID), slog.String("granter", visible.Text(principalkey.Name(d.Decider))),
			slog.Int("left", max(g.Budget-g.Used-1, 0)), slog.String("state", now.State.String()))
	}
	return now, nil
}
