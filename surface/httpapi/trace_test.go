package httpapi_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// traces keeps the trace context of each call.
type traces struct{ seen []ambit.Trace }

func (o *traces) Start(ctx context.Context, e ambit.Event) context.Context {
	o.seen = append(o.seen, e.Trace)
	return ctx
}

func (*traces) Finish(context.Context, ambit.Event) {}

func TestTraceContextOfHeaders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		parent, states []string
		want           ambit.Trace
	}{
		{"none", nil, nil, ambit.Trace{}},
		{"both", []string{"p"}, []string{"s"}, ambit.Trace{Parent: "p", State: "s"}},
		{"two parents do not fail the call", []string{"p", "q"}, []string{"s"}, ambit.Trace{}},
	} {
		observer := &traces{}
		api := newAPI(t, fixture(ambit.Options{Observers: []ambit.Observer{observer}}), openToAll())
		r := httptest.NewRequest("POST", "http://localhost/api/greet", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header["Traceparent"], r.Header["Tracestate"] = test.parent, test.states
		w := httptest.NewRecorder()
		if api.ServeHTTP(w, r); w.Code != 200 {
			t.Errorf("%s: want 200, got %d %s", test.name, w.Code, w.Body)
		}
		if diff := cmp.Diff([]ambit.Trace{test.want}, observer.seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
