package ambit

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// event is what is known of a call when it starts.
func (c *Call) event(began time.Time) Event {
	who := c.run.who()
	event := Event{
		Surface: c.surface, Via: c.run.via, Run: c.run.id, Call: c.id, Request: c.run.request,
		Principal: c.run.key, Tenant: who.Tenant, Kind: who.Kind, DelegatedBy: c.run.delegate, Agent: c.Agent(), Reason: c.reason, Began: began,
	}
	if c.parent != nil {
		event.Parent = c.parent.id
	}
	if c.entry != nil {
		event.Capability, event.Effect, event.Own = c.entry.contract.spec.Name, c.entry.contract.spec.Effect, c.entry.permission < 0
		event.RecordInput = c.entry.contract.spec.RecordInput
	}
	return event
}

func (a *App) start(ctx context.Context, event Event) context.Context {
	for _, o := range a.observers {
		ctx = a.observe(ctx, func(ctx context.Context) context.Context { return o.Start(ctx, event) })
	}
	return ctx
}

// complete adds what is known of a call when it has ended. A name that turned out
// to be none for this caller is no label of anybody's.
func (c *Call) complete(event *Event, failure *Error) {
	event.Took, event.Waited, event.Ran = time.Since(event.Began), c.waited, c.ran
	event.Repaired, event.Replayed = int(c.repaired), c.replayed()
	event.InputBytes, event.OutputBytes = c.input, c.output
	if o := c.once; o != nil {
		event.Proposal, event.Key, event.VersionSeen = o.claim.Approval.ID, o.claim.Key, o.looked.Load()
		if c.ran {
			event.Level, event.Version = o.approved.Level, o.approved.Version
		}
	}
	event.Limit, event.InFlight = c.limit, int(c.slots)
	if c.hidden {
		event.Capability, event.Effect, event.Own, event.RecordInput = "", 0, false, false
	}
	if c.is(lacking) {
		event.Lacks = c.entry.contract.spec.Permission
	}
	if failure != nil {
		event.Code, event.Cause, event.Faults = failure.Code, failure.cause, len(failure.Faults)
	}
}

// finish tells the observers.
func (a *App) finish(ctx context.Context, in *invocation, event Event) {
	for _, o := range a.observers {
		a.observe(ctx, func(ctx context.Context) context.Context {
			if wants, ok := o.(InputObserver); ok {
				wants.FinishInput(ctx, event, in.observed())
			} else {
				o.Finish(ctx, event)
			}
			return ctx
		})
	}
}

// observe calls one observer and contains its panic.
func (a *App) observe(ctx context.Context, call func(context.Context) context.Context) (observed context.Context) {
	observed = ctx
	defer func() {
		if v := recover(); v != nil {
			a.logger.ErrorContext(ctx, "observer panicked", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
	}()
	if made := call(ctx); made != nil {
		observed = made
	}
	return observed
}
