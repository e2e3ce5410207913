package ambittest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

// TestCall holds that one line of a test works on every way in.
func TestCall(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	for _, way := range ambittest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			c := h.In(t).As(planner).Over(way)
			got := ambittest.Call(c, plan, planInput{Title: "trip", Pause: time.Minute})
			want := planOutput{Title: "trip", Steps: []string{"step 1", "step 2"}, Pause: time.Minute}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("Hello", ambittest.Call(c, hello, ambit.Empty{})); diff != "" {
				t.Errorf("hello (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused holds that an error is the same whole object on every way in.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	for _, way := range ambittest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			c := h.In(t).As(planner).Over(way)
			e := ambittest.Refused(c, plan, planInput{Title: "taken"}, ambit.CodeConflict)
			got := map[string]any{"message": e.Message, "executed": e.Executed, "version": numberOf(e.Details["version"])}
			want := map[string]any{"message": "There is a plan of that title.", "executed": ambit.ExecutedNo, "version": 7.0}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conflict (-want +got):\n%s", diff)
			}
			invalid := ambittest.Refused(c, plan, planInput{Title: "trip", Steps: 9}, ambit.CodeInvalidInput)
			if want := "/steps"; invalid.Field != want {
				t.Errorf("field: want %q, got %q", want, invalid.Field)
			}
			stranger := h.In(t).As(ambittest.User("stefan")).Over(way)
			ambittest.Refused(stranger, plan, planInput{Title: "trip"}, ambit.CodeForbidden)
		})
	}
}

// numberOf lets numbers be compared that went over the wire and that did not.
func numberOf(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
