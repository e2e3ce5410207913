package ambit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ambit-dev/ambit"
)

// nest makes an application in which outer calls inner.
func nest(o ambit.Options, outer, inner ambit.Effect, handle func(context.Context, *ambit.Contract[echoInput, echoOutput]) error) *ambit.App {
	spec := echoSpec()
	spec.Name, spec.Effect, spec.Expose = "inner", inner, 0
	contract := ambit.NewContract[echoInput, echoOutput](spec)
	spec.Name, spec.Effect, spec.Expose = "outer", outer, ambit.HTTP
	return newApp(o, contract.Bind(echo), ambit.Define(spec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, handle(ctx, contract)
	}))
}

func TestT04_NestedCall(t *testing.T) {
	t.Parallel()
	call := func(text string) func(context.Context, *ambit.Contract[echoInput, echoOutput]) error {
		return func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
			_, err := c.Call(ctx, echoInput{Text: text})
			return err
		}
	}
	for _, test := range []struct {
		name         string
		outer, inner ambit.Effect
		handle       func(context.Context, *ambit.Contract[echoInput, echoOutput]) error
		want         ambit.Code
	}{
		{"not exposed, but called by a handler", ambit.Write, ambit.Write, call("a"), ""},
		{"lesser effect", ambit.Write, ambit.Read, call("a"), ""},
		{"greater effect", ambit.Read, ambit.Write, call("a"), ambit.CodeInternal},
		{"its error, returned as it is", ambit.Write, ambit.Write, call(""), ambit.CodeInternal},
		{"its error, wrapped", ambit.Write, ambit.Write, func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
			_, err := c.Call(ctx, echoInput{})
			return errors.Join(errors.New("saving"), err)
		}, ambit.CodeInternal},
		{"its error, said anew", ambit.Write, ambit.Write, func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
			if _, err := c.Call(ctx, echoInput{}); err != nil {
				return ambit.Errorf(ambit.CodeConflict, "Not now.")
			}
			return nil
		}, ambit.CodeConflict},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := &records{}
			app := nest(ambit.Options{Observers: []ambit.Observer{seen}}, test.outer, test.inner, test.handle)
			ctx, run := begin(t, app, alice, ambit.HTTP)
			_, err := run.Invoke(ctx, ambit.Request{Name: "outer"})
			if got := ambit.CodeOf(err); got != test.want {
				t.Fatalf("want %q, got %q (%v)", test.want, got, err)
			}
			inner, outer := seen.finished[0], seen.finished[1]
			if inner.Capability != "inner" || inner.Parent != outer.Call || inner.Run != outer.Run || inner.Surface != ambit.InProcess || inner.Via != ambit.HTTP {
				t.Errorf("the record of the inner call does not name its cause: %+v", inner)
			}
		})
	}
}

func TestT04_CallDepth(t *testing.T) {
	t.Parallel()
	var contract *ambit.Contract[ambit.Empty, ambit.Empty]
	depth := 0
	spec := echoSpec()
	spec.Name = "loop"
	contract = ambit.NewContract[ambit.Empty, ambit.Empty](spec)
	var last error
	app := newApp(ambit.Options{}, contract.Bind(func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		depth++
		if _, err := contract.Call(ctx, ambit.Empty{}); err != nil && last == nil {
			last = err
		}
		return ambit.Empty{}, nil
	}))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	if _, err := contract.Call(ctx, ambit.Empty{}); err != nil {
		t.Fatal(err)
	}
	if ambit.CodeOf(last) != ambit.CodeBudgetExhausted || depth != ambit.MaxCallDepth {
		t.Errorf("want budget_exhausted after %d calls, got %v after %d", ambit.MaxCallDepth, last, depth)
	}
}

// A run made inside a call would be a second, unrecorded authority.
func TestT05_NewRunWithinCall(t *testing.T) {
	t.Parallel()
	var app *ambit.App
	var inner error
	app = nest(ambit.Options{}, ambit.Write, ambit.Write, func(ctx context.Context, c *ambit.Contract[echoInput, echoOutput]) error {
		ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: &ambit.Principal{Subject: "root", Permissions: []string{"echo"}}})
		defer run.End()
		_, inner = c.Call(ctx, echoInput{Text: "a"})
		return nil
	})
	ctx, run := begin(t, app, alice, ambit.HTTP)
	if _, err := run.Invoke(ctx, ambit.Request{Name: "outer"}); err != nil {
		t.Fatal(err)
	}
	if ambit.CodeOf(inner) != ambit.CodeForbidden {
		t.Errorf("want forbidden, got %v", inner)
	}
}
