package ambit_test

import (
	"testing"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
)

// allSurfaces are the ways in that a run can come by.
var allSurfaces = []ambit.Surface{
	ambit.InProcess, ambit.CommandLine, ambit.HTTP, ambit.MCP, ambit.WebMCP, ambit.Assistant, ambit.Sandbox, ambit.Schedule,
}

// waiting is one cell of the gate's table where there is nobody to ask and
// approvals are configured.
type waiting struct {
	surface ambit.Surface
	effect  ambit.Effect
	mode    ambit.Mode
	level   ambit.Approval
	monitor monitored
}

// want is the table, told again.
func (c waiting) want() ambit.Code {
	free := map[ambit.Mode]ambit.Effect{ambit.ModePlan: ambit.Read, ambit.ModeDefault: ambit.Read, ambit.ModeGuarded: ambit.Write, ambit.ModeAuto: ambit.External}
	asks := c.effect > free[c.mode] || c.level != ambit.ApprovalUnset
	need := max(c.level, ambit.Confirm)
	agents := c.surface&(ambit.MCP|ambit.Assistant|ambit.Sandbox|ambit.Schedule) != 0
	if c.effect == ambit.Destructive && agents {
		need = ambit.Human
	}
	reviewed := c.monitor != "none" && (asks || c.effect != ambit.Read)
	switch {
	case c.mode == ambit.ModePlan && c.effect != ambit.Read:
		return ambit.CodeBlockedInPlanMode
	case reviewed && (c.monitor == "hard" || c.monitor == "error"):
		return ambit.CodeBlockedByMonitor
	case reviewed && c.monitor == "soft":
		asks, need = true, max(need, ambit.Human)
	}
	switch {
	case !asks:
		return ""
	case need == ambit.Confirm && c.surface&(ambit.Assistant|ambit.Sandbox|ambit.Schedule) != 0:
		return ambit.CodeDeclined
	case need == ambit.Confirm:
		return ambit.CodeConfirmationRequired
	case c.surface == ambit.WebMCP:
		return ambit.CodeConfirmationUnavailable
	}
	return ambit.CodeApprovalPending
}

func TestGateTableWithApprovals(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, effect := range effects {
		for _, level := range []ambit.Approval{ambit.ApprovalUnset, ambit.Confirm, ambit.Human, ambit.FourEyes} {
			for _, monitor := range monitors {
				g := newGateApp(effect, monitor != "none", func(s *ambit.Spec) {
					s.Approval, s.Expose = level, ambit.HTTP|ambit.MCP|ambit.Assistant|ambit.Sandbox|ambit.Schedule
					if level < ambit.Human && effect != ambit.Destructive {
						s.Expose |= ambit.WebMCP
					}
				}, func(o *ambit.Options) {
					o.Approver, o.Keys, o.DestructiveOverMCP = newApprovals(storage.New()), newRing(), true
				})
				g.monitor = monitor
				for _, surface := range allSurfaces {
					if surface == ambit.WebMCP && (level >= ambit.Human || effect == ambit.Destructive) {
						continue // cannot be exposed there, see TestAddRefuses
					}
					for _, mode := range modes {
						c := waiting{surface, effect, mode, level, monitor}
						got, _ := g.call(t, ambit.RunOptions{Surface: surface, Mode: mode}, "a")
						if want := c.want(); got.Code != want || got.Ran != (want == "") {
							t.Errorf("%+v: want %q, got %+v", c, want, got)
						}
						cells++
					}
				}
			}
		}
	}
	if want := 4 * 5 * (5*4*8 - 5*2 - 2); cells != want {
		t.Errorf("want %d cells, got %d", want, cells)
	}
}
