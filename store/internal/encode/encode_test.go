package encode_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// TestNumbers holds the numbers that stand in databases.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		list []fmt.Stringer
		want []string
	}{
		{"states", numbers[ambit.ProposalState](9), []string{"pending", "approved", "denied", "revoked", "expired", "executing", "succeeded", "failed", "unknown"}},
		{"kinds of proposal", numbers[ambit.ProposalKind](2), []string{"approval", "consent"}},
		{"levels", numbers[ambit.Approval](4), []string{"unset", "confirm", "human", "four-eyes"}},
		{"verdicts", numbers[approval.Verdict](6), []string{"invalid", "approve", "deny", "revoke", "settle-succeeded", "settle-failed"}},
		{"effects", numbers[ambit.Effect](6), []string{"invalid", "read", "write", "execute", "external", "destructive"}},
		{"kinds of principal", numbers[ambit.Kind](4), []string{"user", "service", "agent", "anonymous"}},
		{"levels of agents", numbers[ambit.AgentLevel](4), []string{"none", "identity", "request", "once"}},
	} {
		var got []string
		for _, each := range test.list {
			got = append(got, each.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s have other numbers than databases hold (-want +got):\n%s", test.name, diff)
		}
	}
}

func numbers[V interface {
	~uint8
	fmt.Stringer
}](n int) (list []fmt.Stringer) {
	for i := range n {
		list = append(list, V(i))
	}
	return list
}
