package ambittest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

// TestEvents holds that a call is one event, whatever way it came by.
func TestEvents(t *testing.T) {
	t.Parallel()
	own := &ambittest.Recorder{}
	h := ambittest.New(t, newApp(ambit.Options{Observers: []ambit.Observer{own}}))
	for _, way := range ambittest.Ways() {
		h.ResetEvents()
		own.Reset()
		c := h.As(planner).Over(way)
		ambittest.Refused(c, plan, planInput{Title: "taken"}, ambit.CodeConflict)
		c.Call("nothing.here", "").Refused(ambit.CodeNotFound)
		want := []seen{
			{"plan.make", ambit.Write, way.Surface(), planner.Key(), ambit.CodeConflict, true},
			{"", 0, way.Surface(), planner.Key(), ambit.CodeNotFound, false},
		}
		if diff := cmp.Diff(want, seenIn(h.Events())); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", way, diff)
		}
		if diff := cmp.Diff(want, seenIn(own.Events())); diff != "" {
			t.Errorf("%s: events of a recorder in the options (-want +got):\n%s", way, diff)
		}
	}
}

// seen is what of an event does not vary.
type seen struct {
	Capability string
	Effect     ambit.Effect
	Via        ambit.Surface
	Principal  string
	Code       ambit.Code
	Ran        bool
}

func seenIn(events []ambit.Event) (all []seen) {
	for _, e := range events {
		all = append(all, seen{e.Capability, e.Effect, e.Via, e.Principal, e.Code, e.Ran})
	}
	return all
}

// TestFrozenBefore holds that an application is tested as well where somebody
// else has frozen it, and that its events are found where it records them.
func TestFrozenBefore(t *testing.T) {
	t.Parallel()
	own := &ambittest.Recorder{}
	app := newApp(ambit.Options{Observers: []ambit.Observer{own}})
	if err := app.Freeze(); err != nil {
		t.Fatal(err)
	}
	h := ambittest.New(t, app)
	ambittest.Refused(h.As(planner), plan, planInput{Title: "taken"}, ambit.CodeConflict)
	h.ResetEvents()
	ambittest.Call(h.As(planner), hello, ambit.Empty{})
	want := []seen{{"hello", ambit.Read, ambit.InProcess, planner.Key(), "", true}}
	if diff := cmp.Diff(want, seenIn(h.Events())); diff != "" {
		t.Errorf("events of the host (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, seenIn(own.Events())); diff != "" {
		t.Errorf("events of the recorder in the options (-want +got):\n%s", diff)
	}
	if h.App() != app {
		t.Error("want the application that the host was made of")
	}
}

func TestWays(t *testing.T) {
	t.Parallel()
	var names, surfaces []string
	for _, way := range append(ambittest.Ways(), 99) {
		names = append(names, way.String())
		surfaces = append(surfaces, way.Surface().String())
	}
	want := []string{"in-process", "command", "http", "mcp-2026-07-28", "mcp-2025-11-25", "invalid"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	want = []string{"in-process", "command", "http", "mcp", "mcp", "in-process"}
	if diff := cmp.Diff(want, surfaces); diff != "" {
		t.Errorf("surfaces (-want +got):\n%s", diff)
	}
}
