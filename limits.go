package ambit

import (
	"fmt"
	"time"
)

// Unlimited as a number of [Limits] and [Rate] takes the limit away.
const Unlimited = -1

// Limits hold each caller to a share of the application, whatever way its calls
// come in: they count by [Principal.Key], and a tenant's anonymous callers are
// one caller. A call that a handler makes is charged to who made the outermost
// one. What is refused is CodeRateLimited and says how long to wait. Limits
// count per instance, but for rates where Shared is set, and what they remember of a
// caller is forgotten soon after it has gone idle. The zero value holds the
// defaults.
type Limits struct {
	// Rate is how often one principal may call, whatever it calls and whatever
	// comes of it. Calls that handlers make do not count. Zero: 100 a second,
	// 1,000 at once. A capability's own rate is [Spec.Rate].
	Rate Rate
	// Shared counts rates, this one and those of capabilities, for all instances
	// together, beside each instance's own count. Where it fails, that is what
	// holds, and the log says so, once a minute at most. Each call asks it before
	// anything else is done, or twice where its capability has a rate. Nil: rates
	// count per instance.
	Shared SharedRates
	// InFlight is how many calls of one principal may be at work at the same
	// time. One that waits for a person is not at work, and one that a handler
	// makes is part of the handler's. Zero: 32.
	InFlight int
	// InputBytes is how many bytes of input the calls at work may have
	// together, those of all callers. A call whose input alone is more runs
	// when no other is at work. Zero: 64 MiB.
	InputBytes int
}

// The limits that hold unless [Options.Limits] says otherwise.
const (
	DefaultRate       = 100 // calls of one principal in a second
	DefaultBurst      = 1000
	DefaultInFlight   = 32
	DefaultInputBytes = 64 << 20
)

// Limit names what a call had too much of. The zero Limit is none of them.
type Limit uint8

// The limits that refuse with CodeRateLimited.
const (
	// LimitRate is [Limits.Rate].
	LimitRate Limit = iota + 1
	// LimitCapabilityRate is [Spec.Rate].
	LimitCapabilityRate
	// LimitInFlight is [Limits.InFlight].
	LimitInFlight
	// LimitInputBytes is [Limits.InputBytes].
	LimitInputBytes
)

var limitNames = [...]string{"", "rate", "capability_rate", "in_flight", "input_bytes"}

// String returns the limit's name in lower case, "" for the zero Limit, or
// "invalid".
func (l Limit) String() string {
	if int(l) >= len(limitNames) {
		return "invalid"
	}
	return limitNames[l]
}

// MarshalText writes the name that String returns.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	if l.Rate == (Rate{}) {
		l.Rate = Rate{Calls: DefaultRate, Per: time.Second, Burst: DefaultBurst}
	}
	l.InFlight = orDefault(l.InFlight, DefaultInFlight)
	l.InputBytes = orDefault(l.InputBytes, DefaultInputBytes)
	return l
}

// faults says what is wrong with the limits and what to do.
func (l Limits) faults() (faults []error) {
	if _, fault := l.Rate.limit(); fault != "" {
		faults = append(faults, fmt.Errorf("ambit: Options.Limits.Rate: %s: leave Rate zero for the default, or say how many calls in which time", fault))
	}
	for _, bound := range [...]struct {
		name  string
		value int
	}{{"InFlight", l.InFlight}, {"InputBytes", l.InputBytes}} {
		if bound.value < Unlimited {
			faults = append(faults, fmt.Errorf("ambit: Options.Limits.%s is negative: leave it zero for the default, or say ambit.Unlimited", bound.name))
		}
	}
	return faults
}

// tooMuch is the refusal of a call by a limit. Waits are whole seconds, rounded
// up.
func (c *Call) tooMuch(l Limit, wait time.Duration, message, hint string) *Error {
	c.limit = l
	return &Error{Code: CodeRateLimited, Message: message, Hint: hint, RetryAfter: seconds(wait)}
}

func seconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// outermost returns the call that this one is part of, itself if none.
func (c *Call) outermost() *Call {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// accountable returns the key of the principal whom the run's calls are charged
// to: the one that the outermost run works for, whoever delegated since.
func (r *Run) accountable() string {
	for r.above != nil {
		r = r.above
	}
	return r.key
}
