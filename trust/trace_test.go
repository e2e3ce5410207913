package trust_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tt := range []struct {
		name   string
		header http.Header
		want   ambit.Trace
	}{
		{"no header", nil, ambit.Trace{}},
		{"both", http.Header{"Traceparent": {parent}, "Tracestate": {"a=1"}}, ambit.Trace{Parent: parent, State: "a=1"}},
		{"several states are one list", http.Header{"Traceparent": {parent}, "Tracestate": {"a=1", "b=2"}}, ambit.Trace{Parent: parent, State: "a=1,b=2"}},
		{"two parents are none", http.Header{"Traceparent": {parent, parent}, "Tracestate": {"a=1"}}, ambit.Trace{}},
		{"a state alone says nothing", http.Header{"Tracestate": {"a=1"}}, ambit.Trace{}},
	} {
		if diff := cmp.Diff(tt.want, trust.Trace(tt.header)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
