package ambit

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/ambit-dev/ambit/internal/plural"
)

// Budget limits what a run may use. What a run within a run uses counts for
// both. The zero Budget limits nothing.
type Budget struct {
	// Calls is how many calls may run. Zero: any number.
	Calls int
	// Wall is how long calls may begin after the run began. Time in which a
	// person is asked does not count. Zero: any time.
	Wall time.Duration
	// Units are amounts of the application's own, such as tokens or cents,
	// which handlers use up with [Run.Spend]. A unit that is not named is not
	// limited.
	Units map[string]float64
}

// budget is what is left of a run's Budget and of those above it. A nil budget
// limits nothing.
type budget struct {
	above *budget

	mu        sync.Mutex
	limit     Budget
	calls     int
	spent     map[string]float64
	until     time.Time // zero: any time
	waits     int
	suspended time.Time
}

// newBudget returns the budget of a run within another's; with no limits of its
// own it is the other's.
func newBudget(limit Budget, above *budget, now time.Time) *budget {
	if limit.Calls == 0 && limit.Wall == 0 && len(limit.Units) == 0 {
		return above
	}
	b := &budget{above: above, limit: limit, spent: map[string]float64{}}
	b.limit.Units = maps.Clone(limit.Units)
	if limit.Wall > 0 {
		b.until = now.Add(limit.Wall)
	}
	return b
}

func (l Budget) fault() string {
	if l.Calls < 0 || l.Wall < 0 {
		return "RunOptions.Budget is negative"
	}
	for unit, amount := range l.Units {
		if !(amount >= 0) {
			return fmt.Sprintf("RunOptions.Budget has %v %s", amount, unit)
		}
	}
	return ""
}

func exhausted(what string) *Error {
	return &Error{
		Code: CodeBudgetExhausted, Message: "The run has used up its " + what + ".",
		Hint: "Finish with what you have; a new run has a new budget.",
	}
}

// call takes one call from every budget, or from none.
func (b *budget) call(now time.Time) *Error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.until.IsZero() && b.waits == 0 && !now.Before(b.until):
		return exhausted("time")
	case b.limit.Calls > 0 && b.calls >= b.limit.Calls:
		return exhausted(plural.Of(b.limit.Calls, "call"))
	}
	if failure := b.above.call(now); failure != nil {
		return failure
	}
	b.calls++
	return nil
}

// spend takes an amount from every budget that limits the unit, or from none.
func (b *budget) spend(unit string, amount float64) *Error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	limit, limited := b.limit.Units[unit]
	if limited && b.spent[unit]+amount > limit {
		return exhausted(fmt.Sprintf("%v %s", limit, unit))
	}
	if failure := b.above.spend(unit, amount); failure != nil {
		return failure
	}
	if limited {
		b.spent[unit] += amount
	}
	return nil
}

func (b *budget) suspend() {
	for ; b != nil; b = b.above {
		b.mu.Lock()
		if b.waits++; b.waits == 1 {
			b.suspended = time.Now()
		}
		b.mu.Unlock()
	}
}

func (b *budget) resume() {
	for ; b != nil; b = b.above {
		b.mu.Lock()
		if b.waits--; b.waits == 0 && !b.until.IsZero() {
			b.until = b.until.Add(time.Since(b.suspended))
		}
		b.mu.Unlock()
	}
}

// Spend takes an amount of one of the budget's own units from the run and from
// the runs that it is part of, before it is used: tokens before the model is
// asked, cents before they are paid. CodeBudgetExhausted means that nothing was
// taken. An amount must not be negative.
func (r *Run) Spend(unit string, amount float64) error {
	if r == nil {
		return nil
	}
	if !(amount >= 0) {
		e := &Error{Code: CodeInternal, cause: fmt.Errorf("Run.Spend of %v %s", amount, unit)}
		return e.completed(r.app.errorOptions())
	}
	if failure := r.budget.spend(unit, amount); failure != nil {
		return failure
	}
	return nil
}
