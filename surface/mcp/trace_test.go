package mcp_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

// traces keeps the trace context of each call.
type traces struct{ seen []ambit.Trace }

func (o *traces) Start(ctx context.Context, e ambit.Event) context.Context {
	o.seen = append(o.seen, e.Trace)
	return ctx
}

func (*traces) Finish(context.Context, ambit.Event) {}

func TestTraceContextOfMessages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, meta, header string
		want               ambit.Trace
	}{
		{"none", `{}`, "", ambit.Trace{}},
		{"_meta", `{"traceparent":"p","tracestate":"s","baggage":"b"}`, "", ambit.Trace{Parent: "p", State: "s"}},
		{"_meta before the header", `{"traceparent":"p"}`, "h", ambit.Trace{Parent: "p"}},
		{"the header alone", `{}`, "h", ambit.Trace{Parent: "h"}},
		{"no string", `{"traceparent":7,"tracestate":{}}`, "h", ambit.Trace{Parent: "h"}},
		{"a state that is no string", `{"traceparent":"p","tracestate":[]}`, "", ambit.Trace{Parent: "p"}},
	} {
		observer := &traces{}
		server := newServer(t, fixture(ambit.Options{Observers: []ambit.Observer{observer}}), mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}})
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me","_meta":` + test.meta + `}}`
		r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(message))
		r.Header.Set("Content-Type", "application/json")
		if test.header != "" {
			r.Header.Set("Traceparent", test.header)
		}
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, r); w.Code != 200 {
			t.Errorf("%s: want 200, got %d %s", test.name, w.Code, w.Body)
		}
		if diff := cmp.Diff([]ambit.Trace{test.want}, observer.seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if test.header != "" {
			continue
		}
		// Without HTTP it is the same but for the header.
		observer.seen = nil
		server.NewSession(&ambit.Principal{Authority: "stdio", Subject: "me"}, nil).Handle(t.Context(), []byte(message))
		if diff := cmp.Diff([]ambit.Trace{test.want}, observer.seen); diff != "" {
			t.Errorf("%s, in a session (-want +got):\n%s", test.name, diff)
		}
	}
}
