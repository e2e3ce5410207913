package ambit

import (
	"fmt"
	"time"

	"github.com/ambit-dev/ambit/internal/bucket"
)

// Rate is how often something may happen: Calls in the time Per, evenly, and up
// to Burst at once after a pause. The zero Rate is the default of wherever it
// stands; Rate{Calls: Unlimited} is no limit.
type Rate struct {
	// Calls is how many there may be in the time Per.
	Calls int
	// Per is that time.
	Per time.Duration
	// Burst is how many there may be at once. Zero: as many as Calls.
	Burst int
}

// limit returns the rate as what buckets count by; the zero Rate is no limit.
func (r Rate) limit() (l bucket.Limit, fault string) {
	if r == (Rate{}) {
		return bucket.Limit{}, ""
	}
	return bucket.New(r.Calls, r.Per, r.Burst)
}

// String returns the rate in words: "10 calls a minute".
func (r Rate) String() string {
	unit := "every " + r.Per.String()
	switch {
	case r.Calls <= 0:
		return "any number of calls"
	case r.Per == time.Second:
		unit = "a second"
	case r.Per == time.Minute:
		unit = "a minute"
	case r.Per == time.Hour:
		unit = "an hour"
	case r.Per == 24*time.Hour:
		unit = "a day"
	}
	return counted(int64(r.Calls), "call") + " " + unit
}

// counted writes a number of things.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// takeRate is the rest of step 3: may the call's principal call that often?
// Whether there is such a capability for it matters to the capability's own rate
// alone, so that guessing names is no cheaper than calling.
func (a *App) takeRate(call *Call, now time.Time) *Error {
	var own bucket.Limit
	name := ""
	if !call.hidden && call.entry.rate != (bucket.Limit{}) {
		own, name = call.entry.rate, call.entry.contract.spec.Name
	}
	var overall bucket.Limit
	if call.parent == nil || call.surface != InProcess { // or else the handler's own
		overall = a.rate
	}
	if own == (bucket.Limit{}) && overall == (bucket.Limit{}) {
		return nil
	}
	limit, wait := a.callers.take(call.run.accountable(), overall, name, own, now)
	if wait == 0 {
		limit, wait = a.takeShared(call, overall != (bucket.Limit{}), name, now)
	}
	if wait == 0 {
		return nil
	}
	message := fmt.Sprintf("Too many calls: you may make %s.", a.options.Limits.Rate)
	if limit == LimitCapabilityRate {
		message = fmt.Sprintf("Too many calls of this: you may make %s.", call.entry.contract.spec.Rate)
	}
	hint := fmt.Sprintf("Wait %s before you try again, and call less often.", counted(int64(seconds(wait)/time.Second), "second"))
	return call.tooMuch(limit, wait, message, hint)
}
