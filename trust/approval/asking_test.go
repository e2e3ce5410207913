package approval_test

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
)

type peek struct {
	*memory.Store
	seen ambit.Claim
}

func (p *peek) Unwrap() ambit.Ledger { return p.Store }

func (p *peek) Find(_ context.Context, c ambit.Claim) (ambit.Record, error) {
	p.seen = c
	return ambit.Record{}, errors.New("peeked")
}

// asked proposes as the pipeline does.
func (n *notes) asked(who *ambit.Principal, capability string, in shelfInput, reason string) (ambit.Standing, error) {
	n.t.Helper()
	input, err := json.Marshal(in)
	n.must(err)
	ctx, run := n.app.NewRun(n.t.Context(), ambit.RunOptions{Principal: who, Surface: ambit.HTTP})
	defer run.End()
	_, _ = run.Invoke(ctx, ambit.Request{Name: capability, Input: input, IdempotencyKey: "peek"})
	binding := n.peek.seen.Binding
	if binding.Capability != capability {
		n.t.Fatalf("no binding of %s", capability)
	}
	var tree map[string]any
	n.must(json.Unmarshal(input, &tree))
	canonical, err := json.Marshal(tree)
	n.must(err)
	operation := binding.Operation()
	p := ambit.Proposal{
		Binding: binding, Quorum: 1, Requester: who, Via: ambit.HTTP, Title: "Purge a folder", Effect: ambit.Destructive, Reason: reason,
		Input: n.app.Sealer("input").Seal(nil, canonical, operation[:]), DecidePermission: "approvals:decide",
		DecideWithin: ambit.DefaultDecideWithin, ExecuteWithin: ambit.DefaultExecuteWithin,
	}
	for _, c := range n.app.Capabilities() {
		if spec := c.Spec(); spec.Name == capability {
			p.Level, p.Quorum = spec.Approval, max(spec.Quorum, 1)
		}
	}
	review, err := n.app.Review(n.t.Context(), p)
	n.must(err)
	p.Preview, p.Version = review.Digest, review.Version
	return n.approvals.Propose(ctx, p, func(ctx context.Context, d *ambit.Principal) error { return n.app.Permits(ctx, d, p.DecidePermission) })
}
