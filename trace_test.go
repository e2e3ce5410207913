package ambit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

func TestTraceReachesObservers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 513)
	for _, test := range []struct {
		name        string
		given, want ambit.Trace
	}{
		{"none", ambit.Trace{}, ambit.Trace{}},
		{"as it came", ambit.Trace{Parent: "anything", State: "at all"}, ambit.Trace{Parent: "anything", State: "at all"}},
		{"long state", ambit.Trace{Parent: "p", State: long}, ambit.Trace{Parent: "p"}},
		{"long parent", ambit.Trace{Parent: long, State: "s"}, ambit.Trace{}},
	} {
		seen := &records{}
		app := nest(ambit.Options{Observers: []ambit.Observer{seen}}, ambit.Read, ambit.Read, func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
			_, err := c.Call(ctx, echoInput{Text: "a"})
			return err
		})
		ctx, run := begin(t, app, alice, ambit.HTTP)
		if _, err := run.Invoke(ctx, ambit.Request{Name: "outer", Trace: test.given}); err != nil {
			t.Fatal(err)
		}
		var got []ambit.Trace
		for _, e := range append(seen.started, seen.finished...) {
			got = append(got, e.Trace)
		}
		want := []ambit.Trace{test.want, {}, {}, test.want} // the inner call has none
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestObserversKnowCapabilitiesOfOneRun(t *testing.T) {
	t.Parallel()
	seen := &records{}
	app := newApp(ambit.Options{Observers: []ambit.Observer{seen}}, ambit.Define(echoSpec(), echo))
	own := echoSpec()
	own.Name = "page.echo"
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: alice, Surface: ambit.HTTP, Capabilities: []ambit.AnyCapability{ambit.Define(own, echo)},
	})
	defer run.End()
	for _, test := range []struct {
		name string
		want bool
	}{{"echo", false}, {"page.echo", true}} {
		if _, err := run.Invoke(ctx, ambit.Request{Name: test.name, Input: []byte(`{"text":"a"}`)}); err != nil {
			t.Fatal(err)
		}
		if e := seen.last(t); e.Capability != test.name || e.Own != test.want {
			t.Errorf("%s: want Own %v, got %v of %s", test.name, test.want, e.Own, e.Capability)
		}
	}
}
