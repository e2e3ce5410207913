package ambittest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// A keyed call runs once, by name and with Go values, on every way in.
func TestKeyed(t *testing.T) {
	t.Parallel()
	for _, way := range ambittest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			h := ambittest.New(t, newApp(ambit.Options{Ledger: idempotency.NewMemory(idempotency.Options{})}))
			c := h.As(planner).Over(way)
			for _, c := range []*ambittest.Client{c.Keyed("one"), c.Keyed("one"), c.Keyed("two"), c} {
				c.Call("plan.make", `{"title":"trip"}`).OK()
				ambittest.Call(c, plan, planInput{Title: "trip", Steps: 2})
			}
			c.Keyed("one").Call("plan.make", `{"title":"walk"}`).Refused(ambit.CodeConflict)
			var ran []bool
			for _, e := range h.Events() {
				ran = append(ran, e.Ran)
			}
			want := []bool{true, false, false, false, true, false, true, true, false}
			if diff := cmp.Diff(want, ran); diff != "" {
				t.Errorf("which calls ran (-want +got):\n%s", diff)
			}
		})
	}
}

// A typed call carries a confirmation as one by name does.
func TestConfirmingTypedCalls(t *testing.T) {
	t.Parallel()
	app, _ := newPurger(t, true, ambit.Confirm)
	purger := ambittest.New(t, app).As(ambittest.User("paul", "purge"))
	purge := ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{Name: "purge"})
	asked := ambittest.Refused(purger, purge, ambit.Empty{}, ambit.CodeConfirmationRequired)
	ambittest.Call(purger.Confirming(asked.Approval.Token), purge, ambit.Empty{})
}
