package ambit

import (
	"context"
	"log/slog"
)

// checkReviewable makes sure, at the first call of a capability that waits for a
// person, that deciders are shown what the call would do. They are shown it for the
// requester as a store keeps it, without Claims and Value: where the policy, the rule
// over the input or the preview goes by those, no call could ever be approved, and
// nothing but the operator's log could tell why.
func (a *App) checkReviewable(call *Call, in *invocation, p Proposal, shown shownPreview) {
	if len(p.Requester.Claims) == 0 && p.Requester.Value == nil && a.options.Resolve == nil {
		return // it is kept as it is
	}
	e := call.entry
	if !e.reviewed.CompareAndSwap(false, true) {
		return
	}
	p.Requester = p.Requester.clone()
	p.Requester.Claims, p.Requester.Value = nil, nil
	ctx, cancel := context.WithCancel(context.Background()) // not within the call: it is reviewed as if by somebody else
	defer cancel()
	defer context.AfterFunc(&call.ctx, cancel)()
	_, reviewed, failure := a.reviewed(ctx, &p, e, in.text)
	if failure == nil && reviewed.digest == shown.digest {
		return
	}
	transient := failure != nil && (failure.Code == CodeUnavailable || failure.Code == CodeCanceled || failure.Code == CodeDeadlineExceeded)
	if again, fails := a.previewAtWork(call, in); transient || fails != nil || again.digest != shown.digest {
		e.reviewed.Store(false) // something else has changed in the meantime
		return
	}
	found := "another preview"
	if failure != nil {
		found = string(failure.Code)
	}
	a.logger.WarnContext(call.ctx.parent, "calls of this capability cannot be approved: what deciders are shown is not what the caller is shown, because Principal.Claims and Value are not kept with a proposal",
		slog.String("capability", call.Capability()), slog.String("deciders find", found),
		slog.String("cure", "look up what it goes by with Principal.Key, or set Options.Resolve so that it returns the same Claims and Value as the authenticator"))
}
