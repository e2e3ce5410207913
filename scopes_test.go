package ambit_test

import (
	"context"
	"testing"

	"github.com/ambit-dev/ambit"
)

func TestT06_ImpliedScopes(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "test", ImpliedScopes: map[string][]string{
		"admin": {"write"}, "write": {"read"}, "loop": {"pool"}, "pool": {"loop"},
	}})
	app.Add(ambit.Define(ambit.Spec{
		Name: "act", Description: "Act.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP, Scopes: []string{"read", "loop"},
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	for _, tt := range []struct {
		name   string
		scopes []string
		want   ambit.Code
	}{
		{"the scopes themselves", []string{"loop", "read"}, ""},
		{"a broader one", []string{"write", "loop"}, ""},
		{"a broader one of a broader one", []string{"admin", "loop"}, ""},
		{"two that include each other", []string{"read", "pool"}, ""},
		{"one of two", []string{"admin"}, ambit.CodeInsufficientScope},
		{"a name that only begins alike", []string{"read:all", "loop"}, ambit.CodeInsufficientScope},
		{"none", []string{}, ambit.CodeInsufficientScope},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
				Principal: &ambit.Principal{Authority: "test", Subject: "alice", Scopes: tt.scopes}, Surface: ambit.HTTP,
			})
			defer run.End()
			if err := run.Admit(ctx, "act"); ambit.CodeOf(err) != tt.want {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// A narrower scope never includes a broader one.
func TestT06_ImpliedOneWay(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "test", ImpliedScopes: map[string][]string{"write": {"read"}}})
	app.Add(ambit.Define(ambit.Spec{
		Name: "act", Description: "Act.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP, Scopes: []string{"write"},
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: &ambit.Principal{Authority: "test", Subject: "alice", Scopes: []string{"read"}}, Surface: ambit.HTTP,
	})
	defer run.End()
	if err := run.Admit(ctx, "act"); ambit.CodeOf(err) != ambit.CodeInsufficientScope {
		t.Errorf("want insufficient_scope, got %v", err)
	}
}
