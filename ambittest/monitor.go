package ambittest

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-dev/ambit"
)

// Monitor is an [ambit.Monitor] that says what a test wrote down. It is safe for
// concurrent use.
type Monitor struct {
	t      T
	script script[ambit.Action, ambit.Verdict]
}

// Verdicts returns a monitor that says this of the calls that it is shown, in
// order. A call for which nothing is left fails the test and is blocked.
func Verdicts(t T, verdicts ...ambit.Verdict) *Monitor {
	return &Monitor{t: t, script: script[ambit.Action, ambit.Verdict]{said: verdicts}}
}

// Review keeps the action and returns the next verdict.
func (m *Monitor) Review(ctx context.Context, a ambit.Action) (ambit.Verdict, error) {
	m.t.Helper()
	shown := fmt.Sprintf("%s (%s) %s %q", a.Capability, a.Effect, a.Input, a.Reason)
	keepFor(ctx, "what the monitor is shown of "+a.Capability, shown)
	verdict, ok := m.script.next(a)
	if !ok {
		m.t.Errorf("nobody expected the monitor to be shown a call:\n%s", shown)
		return ambit.Verdict{}, errors.New("ambittest: no verdict is left")
	}
	return verdict, nil
}

// Actions returns what the monitor was shown so far, in order.
func (m *Monitor) Actions() []ambit.Action {
	actions, _ := m.script.soFar()
	return actions
}

// CheckShown fails the test where a verdict is left for which no call came.
func (m *Monitor) CheckShown() {
	m.t.Helper()
	if shown, left := m.script.soFar(); left > 0 {
		m.t.Errorf("want a call for each verdict; %d came and %d verdicts are left", len(shown), left)
	}
}
