package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// propertyTests make up histories.
func propertyTests() []test {
	return []test{{"whatever happens, a store says what the store in memory says", func(t *testing.T, b bench) {
		histories, ahead := 0, time.Duration(0)
		rapid.Check(t, func(rt *rapid.T) {
			histories++
			b.tenant = fmt.Sprint("tenant ", histories)
			h := &history{bench: b, T: rt, model: memory.New(), ctx: t, ahead: &ahead}
			h.model.Advance(ahead)
			rt.Repeat(map[string]func(*rapid.T){
				"propose":    h.propose,
				"decide":     h.decide,
				"reconsider": h.reconsider,
				"give":       h.give,
				"by grant":   h.byGrant,
				"revoke":     h.revoke,
				"claim":      h.claim,
				"end":        h.end,
				"advance":    h.advance,
				"forget":     h.forget,
				"":           h.check,
			})
		})
	}}}
}

// history is what happens to the records of one tenant in two stores.
type history struct {
	bench
	*rapid.T
	ctx    *testing.T
	model  *memory.Store
	ahead  *time.Duration // of the store's clock
	ids    []string
	grants []string
	claims []ambit.Claim
}

// draw returns one of the values.
func draw[V any](t *rapid.T, name string, values ...V) V {
	return rapid.SampledFrom(values).Draw(t, name)
}

// agree fails where the two stores differ.
func (h *history) agree(what string, model, got any, modelErr, err error) {
	h.Helper()
	if (modelErr == nil) != (err == nil) {
		h.Fatalf("%s: want error %v, got %v", what, modelErr, err)
	}
	if diff := cmp.Diff(model, got, near(), cmpopts.EquateEmpty()); diff != "" {
		h.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func (h *history) id(t *rapid.T) string {
	if len(h.ids) == 0 {
		t.Skip("there is no proposal")
	}
	return rapid.SampledFrom(h.ids).Draw(t, "id")
}

func (h *history) propose(t *rapid.T) {
	id := fmt.Sprintf("%s, proposal %d", h.tenant, len(h.ids))
	p := h.proposal(draw(t, "input", "x", "y"), atLevel(draw(t, "level", ambit.Confirm, ambit.Human, ambit.FourEyes)), withQuorum(draw(t, "quorum", 1, 2)))
	p.Preview, p.Key = digest(draw(t, "preview", "preview", "new")), digest(draw(t, "key", "k", "l"))
	caps := approval.Caps{Requester: draw(t, "cap", 0, 1, 2)}
	want, made, wantErr := h.model.Propose(h.ctx.Context(), id, p, caps, nil)
	got, created, err := h.Approvals.Propose(h.ctx.Context(), id, p, caps, nil)
	h.agree("Propose", want, got, wantErr, err)
	h.agree("Propose: created", made, created, nil, nil)
	if created {
		h.ids = append(h.ids, id)
	}
}

func (h *history) decide(t *rapid.T) {
	id := h.id(t)
	d := h.decision(draw(t, "who", "ann", "bob", "eve"), draw(t, "verdict", approval.Approve, approval.Approve, approval.Approve, approval.Deny, approval.Revoke, approval.SettleSucceeded, approval.SettleFailed))
	d.Preview, d.Behind = digest(draw(t, "preview", "preview", "new")), draw(t, "behind", nil, []string{"owner"})
	want, wantChanged, wantErr := h.model.Decide(h.ctx.Context(), h.tenant, id, d, nil)
	got, changed, err := h.Approvals.Decide(h.ctx.Context(), h.tenant, id, d, nil)
	h.agree("Decide", want, got, wantErr, err)
	h.agree("Decide: changed", wantChanged, changed, nil, nil)
}

func (h *history) reconsider(t *rapid.T) {
	id := h.id(t)
	c := approval.Change{Preview: digest(draw(t, "preview", "preview", "new")), Version: "v1"}
	if draw(t, "without ann", true, false) {
		c.Without = []string{h.decision("ann", 0).Decider}
	}
	want, wantChanged, wantErr := h.model.Reconsider(h.ctx.Context(), h.tenant, id, c, nil)
	got, changed, err := h.Approvals.Reconsider(h.ctx.Context(), h.tenant, id, c, nil)
	h.agree("Reconsider", want, got, wantErr, err)
	h.agree("Reconsider: changed", wantChanged, changed, nil, nil)
}

func (h *history) give(t *rapid.T) {
	g := h.grant(withBudget(draw(t, "budget", 1, 2)))
	g.ID, g.Until = fmt.Sprintf("%s, grant %d", h.tenant, len(h.grants)), time.Now().Add(*h.ahead+draw(t, "for", time.Hour, 13*time.Hour)+30*time.Second) // at no whole minute, as all else
	g.Given = h.decision(draw(t, "who", "ann", "bob"), approval.Approve)
	want, wantErr := h.model.Give(h.ctx.Context(), g, nil)
	got, err := h.Approvals.Give(h.ctx.Context(), g, nil)
	h.agree("Give", want, got, wantErr, err)
	h.grants = append(h.grants, g.ID)
}

func (h *history) byGrant(t *rapid.T) {
	if len(h.grants) == 0 {
		t.Skip("there is no grant")
	}
	id, grant, preview := h.id(t), rapid.SampledFrom(h.grants).Draw(t, "grant"), digest(draw(t, "preview", "preview", "preview", "new"))
	want, wantChanged, wantErr := h.model.DecideByGrant(h.ctx.Context(), h.tenant, id, grant, preview, nil)
	got, changed, err := h.Approvals.DecideByGrant(h.ctx.Context(), h.tenant, id, grant, preview, nil)
	h.agree("DecideByGrant", want, got, wantErr, err)
	h.agree("DecideByGrant: changed", wantChanged, changed, nil, nil)
}

func (h *history) revoke(t *rapid.T) {
	if len(h.grants) == 0 {
		t.Skip("there is no grant")
	}
	id, d := rapid.SampledFrom(h.grants).Draw(t, "grant"), h.decision("eve", approval.Revoke)
	want, wantLost, wantChanged, wantErr := h.model.RevokeGrant(h.ctx.Context(), h.tenant, id, d, nil)
	got, lost, changed, err := h.Approvals.RevokeGrant(h.ctx.Context(), h.tenant, id, d, nil)
	h.agree("RevokeGrant", want, got, wantErr, err)
	h.agree("RevokeGrant: lost", wantLost, lost, nil, nil)
	h.agree("RevokeGrant: changed", wantChanged, changed, nil, nil)
}

func (h *history) claim(t *rapid.T) {
	c := ambit.Claim{Attempt: attempt(), Lease: lease, Binding: h.binding("robot", draw(t, "input", "x", "y"))}
	if draw(t, "approval", true, true, false) {
		c.Approval = ambit.ApprovalClaim{ID: h.id(t), Level: draw(t, "level", ambit.Confirm, ambit.Human), Preview: digest(draw(t, "preview", "preview", "preview", "new"))}
	}
	if key := draw(t, "key", "", "k", "l"); key != "" {
		c.Key = digest(h.tenant + key)
	}
	want, wantErr := h.model.Find(h.ctx.Context(), c)
	got, err := h.Approvals.Find(h.ctx.Context(), c)
	h.agree("Find", want, got, wantErr, err)
	want, wantErr = h.model.Claim(h.ctx.Context(), c)
	got, err = h.Approvals.Claim(h.ctx.Context(), c)
	h.agree("Claim", want, got, wantErr, err)
	if got.State == ambit.RecordFree && got.Approval.ID == "" {
		h.claims = append(h.claims, c)
	}
}

func (h *history) end(t *rapid.T) {
	if len(h.claims) == 0 {
		t.Skip("there is no claim")
	}
	c := rapid.SampledFrom(h.claims).Draw(t, "claim")
	if draw(t, "release", true, false) {
		h.agree("Release", nil, nil, h.model.Release(h.ctx.Context(), c), h.Approvals.Release(h.ctx.Context(), c))
		return
	}
	e := ambit.Ending{Failed: draw(t, "failed", true, false), Outcome: []byte("outcome")}
	h.agree("Finish", nil, nil, h.model.Finish(h.ctx.Context(), c, e), h.Approvals.Finish(h.ctx.Context(), c, e))
}

func (h *history) advance(t *rapid.T) {
	by := draw(t, "by", 2*time.Minute, executeWithin, 12*time.Hour, decideWithin)
	*h.ahead += by
	h.model.Advance(by)
	h.Advance(by)
}

func (h *history) forget(t *rapid.T) {
	keep := draw(t, "keep", 0, time.Hour, 48*time.Hour)
	_, wantErr := h.model.Forget(h.ctx.Context(), keep) // the store has those of other histories too
	_, err := h.Approvals.Forget(h.ctx.Context(), keep)
	h.agree("Forget", nil, nil, wantErr, err)
}

// check compares how all records stand, and holds that no operation has two that
// live. What they say is compared when they change.
func (h *history) check(*rapid.T) {
	f := approval.Filter{Tenant: h.tenant, Limit: 200}
	want, _, wantErr := h.model.List(h.ctx.Context(), f)
	got, _, err := h.Approvals.List(h.ctx.Context(), f)
	h.agree("List", summaries(want), summaries(got), wantErr, err)
	for _, grants := range []approval.GrantFilter{{Tenant: h.tenant, Limit: 200}, {Tenant: h.tenant, Live: true, Limit: 200}} {
		want, _, wantErr := h.model.Grants(h.ctx.Context(), grants)
		got, _, err := h.Approvals.Grants(h.ctx.Context(), grants)
		h.agree("Grants", want, got, wantErr, err)
	}
	live := make(map[ambit.Digest]int)
	for _, r := range got {
		switch r.State {
		case ambit.ProposalPending, ambit.ProposalApproved, ambit.ProposalExecuting, ambit.ProposalUnknown:
			if live[r.Operation]++; live[r.Operation] > 1 {
				h.Fatalf("two records of one operation live")
			}
		}
	}
}

func summaries(list []approval.Record) (texts []string) {
	for _, r := range list {
		texts = append(texts, fmt.Sprintf("%s: %s of %s, %d decisions, key %x", r.ID, r.State, r.Proposal.Level, len(r.Decisions), r.Key[:4]))
	}
	return texts
}
