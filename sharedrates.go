package ambit

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// ratePatience is how long a call waits for shared rates.
	ratePatience = 500 * time.Millisecond
	// ratePause is for how long shared rates that fail are not asked again, so
	// that not every call waits for them.
	ratePause = time.Second
	// rateComplaints is how often the operator is told that they fail, at most.
	rateComplaints = time.Minute
)

// SharedRates counts calls for all instances of an application; the stores have
// it. It is safe for concurrent use and returns when ctx ends.
type SharedRates interface {
	// Take takes one from the bucket of a name, which fills at a rate and is full
	// at first, or takes nothing and says how long it is until there is one. A
	// bucket is always used with one rate.
	Take(ctx context.Context, bucket string, r Rate) (wait time.Duration, err error)
}

// sharing is what an application remembers of its shared rates.
type sharing struct {
	pausedUntil, complainedAt atomic.Int64 // Unix times in nanoseconds
}

// takeShared asks the shared rates, if there are any, about a call that the
// instance's own allow. Where they fail, the instance's own are what holds.
func (a *App) takeShared(call *Call, overall bool, own string, now time.Time) (Limit, time.Duration) {
	shared := a.options.Limits.Shared
	if shared == nil || now.UnixNano() < a.sharing.pausedUntil.Load() {
		return 0, 0
	}
	who := call.run.accountable()
	if overall {
		if wait := a.askShared(call, shared, "all/"+who, a.options.Limits.Rate); wait > 0 {
			return LimitRate, wait
		}
	}
	if own != "" {
		if wait := a.askShared(call, shared, "one/"+own+"/"+who, call.entry.contract.spec.Rate); wait > 0 {
			return LimitCapabilityRate, wait
		}
	}
	return 0, 0
}

func (a *App) askShared(call *Call, shared SharedRates, bucket string, r Rate) time.Duration {
	ctx, cancel := context.WithTimeout(call.ctx.parent, ratePatience)
	defer cancel()
	wait, err := containedTake(ctx, shared, bucket, r)
	if err == nil {
		return max(wait, 0)
	}
	if call.ctx.parent.Err() != nil { // it is the caller who has gone
		return 0
	}
	now := time.Now()
	a.sharing.pausedUntil.Store(now.Add(ratePause).UnixNano())
	if last := a.sharing.complainedAt.Load(); now.UnixNano()-last >= int64(rateComplaints) && a.sharing.complainedAt.CompareAndSwap(last, now.UnixNano()) {
		a.logger.WarnContext(call.ctx.parent, "shared rates failed, so that limits count for this instance alone", slog.Any("cause", err))
	}
	return 0
}

func containedTake(ctx context.Context, shared SharedRates, bucket string, r Rate) (wait time.Duration, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return shared.Take(ctx, bucket, r)
}
