package ambit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
)

// What the gate makes of every effect, approval and mode, for people and for
// agents, before anyone is asked.
func TestDecide(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, effect := range effects {
		for approval := ambit.ApprovalUnset; approval <= ambit.FourEyes; approval++ {
			for _, via := range []ambit.Surface{ambit.HTTP, ambit.MCP} {
				spec := ambit.Spec{Effect: effect, Approval: approval}
				fmt.Fprintf(&got, "%s, approval %s, via %s:", effect, approval, via)
				for _, mode := range modes {
					decision, need := spec.Decide(mode, via)
					fmt.Fprintf(&got, " %s %s (%s)", mode, decision, need)
				}
				got.WriteString("\n")
			}
		}
	}
	golden(t, "decisions.txt", got.String())
	if want := "invalid"; ambit.Decision(9).String() != want {
		t.Errorf("want %s, got %s", want, ambit.Decision(9))
	}
}
