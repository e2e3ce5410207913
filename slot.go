package ambit

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// An outermost call has a slot while it is at work: from step 9 to its end,
// except for the time in which a call that its handler makes waits for a person.
// Calls within it ride on the slot. Call.away counts the reasons for which a
// call has none; the last one to go takes the slot and the first one to come
// gives it back, in whatever order that happens.

// takeSlot is the first part of step 9. It refuses at once where no slot is
// free: a queue would hold memory for those who are over their share already.
func (a *App) takeSlot(call *Call, now time.Time) *Error {
	if call.parent != nil {
		return nil
	}
	most := a.options.Limits.InFlight
	if most == Unlimited {
		most = math.MaxInt
	}
	key := call.run.accountable()
	inFlight, ok := a.callers.enter(key, most, now)
	if !ok {
		return call.tooMuch(LimitInFlight, time.Second,
			fmt.Sprintf("You have %s at work, which is as many as you may have at once.", counted(int64(inFlight), "call")),
			"Wait for one of them to end, then try again.")
	}
	if !addWithin(&a.inputBytes, int64(call.input), int64(a.options.Limits.InputBytes)) {
		a.callers.leave(key)
		return call.tooMuch(LimitInputBytes, time.Second,
			"The application is at work on as much input as it takes at once.", "Try again in a moment.")
	}
	call.slots = int32(min(inFlight, math.MaxInt32))
	if call.away.Add(-1) > 0 { // something that the input's rule began waits yet
		a.returnSlot(call)
	}
	return nil
}

// addWithin adds n unless that makes more than most. A sum of n alone is never
// too much.
func addWithin(sum *atomic.Int64, n, most int64) bool {
	if n == 0 || most == Unlimited {
		sum.Add(n)
		return true
	}
	for {
		old := sum.Load()
		if old > 0 && old+n > most {
			return false
		}
		if sum.CompareAndSwap(old, old+n) {
			return true
		}
	}
}

// leaveSlot gives the slot back for one more reason.
func (a *App) leaveSlot(call *Call) {
	if call.parent == nil && call.away.Add(1) == 1 {
		a.returnSlot(call)
	}
}

// resumeSlot takes the slot again when no reason is left. It does not ask
// whether one is free: a handler that has begun is not refused.
func (a *App) resumeSlot(call *Call) {
	if call.parent == nil && call.away.Add(-1) == 0 {
		a.callers.enter(call.run.accountable(), math.MaxInt, time.Now())
		a.inputBytes.Add(int64(call.input))
	}
}

func (a *App) returnSlot(call *Call) {
	a.callers.leave(call.run.accountable())
	a.inputBytes.Add(-int64(call.input))
}
