package ambit_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

func TestMiddlewareOrder(t *testing.T) {
	t.Parallel()
	var order []string
	named := func(name string) ambit.Middleware {
		return ambit.Middleware{Name: name, Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (any, error) {
			order = append(order, name+" "+call.Capability())
			defer func() { order = append(order, name+" done") }()
			return next(ctx)
		}}
	}
	capability := ambit.Define(echoSpec(), echo).WithMiddleware(named("inner"))
	app := newApp(ambit.Options{Middleware: []ambit.Middleware{named("outer")}}, capability)
	ctx, run := begin(t, app, alice, ambit.HTTP)
	if _, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"outer echo", "inner echo", "inner done", "outer done"}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever middleware does, the handler runs at most once, on the input that
// was checked, and its output is checked.
func TestT17_MiddlewareRunsHandlerOnce(t *testing.T) {
	t.Parallel()
	type wrap = func(context.Context, *ambit.Call, ambit.Next) (any, error)
	release := make(chan struct{})
	lateDone := make(chan error, 1)
	for _, test := range []struct {
		name string
		wrap wrap
		want string
		code ambit.Code
		runs int
	}{
		{"passes on", func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) { return next(ctx) }, "a", "", 1},
		{"replaces", func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			_, err := next(ctx)
			return echoOutput{Text: "other"}, err
		}, "other", "", 1},
		{"never calls next", func(context.Context, *ambit.Call, ambit.Next) (any, error) { return echoOutput{Text: "cached"}, nil }, "cached", "", 0},
		{"another type", func(context.Context, *ambit.Call, ambit.Next) (any, error) { return "text", nil }, "", ambit.CodeInvalidOutput, 0},
		{"nothing", func(context.Context, *ambit.Call, ambit.Next) (any, error) { return nil, nil }, "", ambit.CodeInvalidOutput, 0},
		{"breaks the schema", func(context.Context, *ambit.Call, ambit.Next) (any, error) {
			return echoOutput{Text: string(make([]byte, 300))}, nil
		}, "", ambit.CodeInvalidOutput, 0},
		{"calls next twice", func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			_, _ = next(ctx)
			return next(ctx)
		}, "", ambit.CodeInternal, 1},
		{"calls next late", func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			go func() { <-release; _, err := next(ctx); lateDone <- err }()
			return echoOutput{Text: "early"}, nil
		}, "early", "", 0},
		{"another context", func(_ context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
			return next(context.Background())
		}, "", ambit.CodeInternal, 0},
		{"panics", func(context.Context, *ambit.Call, ambit.Next) (any, error) { panic("oh") }, "", ambit.CodeInternal, 0},
		{"refuses", func(context.Context, *ambit.Call, ambit.Next) (any, error) {
			return nil, ambit.Errorf(ambit.CodeUnavailable, "Closed for the night.")
		}, "", ambit.CodeUnavailable, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			runs := 0
			contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
			app := newApp(ambit.Options{}, contract.Bind(func(ctx context.Context, in echoInput) (echoOutput, error) {
				runs++
				return echo(ctx, in)
			}).WithMiddleware(ambit.Middleware{Name: "m", Wrap: test.wrap}))
			ctx, _ := begin(t, app, alice, ambit.InProcess)
			out, err := contract.Call(ctx, echoInput{Text: "a"})
			if got := ambit.CodeOf(err); got != test.code || out.Text != test.want || runs != test.runs {
				t.Errorf("want %q %q and %d runs, got %q %q and %d (%v)", test.want, test.code, test.runs, out.Text, got, runs, err)
			}
		})
	}
	close(release)
	if err := <-lateDone; ambit.CodeOf(err) != ambit.CodeInternal {
		t.Errorf("late call of next: want internal, got %v", err)
	}
}
