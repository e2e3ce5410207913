package ambittest_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestFailures shows what a test says when an application does not do what the
// test wants: each time what was wanted, what came, and the whole error.
func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(ambittest.T)
	}{
		{"call refused", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			ambittest.Call(h.As(planner), plan, planInput{Title: "taken"})
		}},
		{"call of an invalid input", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			ambittest.Call(h.As(planner).Over(ambittest.HTTP), plan, planInput{Steps: 9})
		}},
		{"success where a refusal was wanted", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			ambittest.Refused(h.As(planner), plan, planInput{Title: "trip"}, ambit.CodeConflict)
		}},
		{"another refusal", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			ambittest.Refused(h.As(ambittest.User("stefan")).Over(ambittest.CommandLine), plan, planInput{Title: "taken"}, ambit.CodeConflict)
		}},
		{"answer not OK", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(planner).Call("plan.mak", "").OK()
		}},
		{"answer without the permission", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(ambittest.User("stefan")).Over(ambittest.HTTP).Call("plan.make", "").OK()
		}},
		{"call without the permission", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			ambittest.Call(h.As(ambittest.User("stefan")), plan, planInput{Title: "taken"})
		}},
		{"answer not refused", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(planner).Call("hello", "").Refused(ambit.CodeForbidden)
		}},
		{"answer refused otherwise", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(ambittest.Anonymous()).Call("plan.make", "").Refused(ambit.CodeForbidden)
		}},
		{"an application that cannot be used", func(t ambittest.T) {
			ambittest.New(t, ambit.New(ambit.Options{MaxInput: -1}))
		}},
		{"an application that cannot be served", func(t ambittest.T) {
			app := newApp(ambit.Options{})
			app.Add(ambit.Define(ambit.Spec{
				Name: "plans", Description: "In the way.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
			}, sayHello))
			ambittest.New(t, app)
		}},
		{"events of an application that was frozen before", func(t ambittest.T) {
			app := newApp(ambit.Options{})
			if err := app.Freeze(); err != nil {
				t.Fatalf("%v", err)
			}
			ambittest.New(t, app).Events()
		}},
		{"no principal", func(t ambittest.T) {
			ambittest.New(t, newApp(ambit.Options{})).As(nil)
		}},
		{"nobody vouches for the principal", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(&ambit.Principal{Subject: "petra"}).Over(ambittest.HTTP).Listed()
		}},
		{"no such way", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{}))
			h.As(planner).Over(99).Call("hello", "")
		}},
		{"a question that nobody expected", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{RunOptions: inMode(ambit.ModeDefault, ambittest.Answers(t))}))
			ambittest.Call(h.As(planner), plan, planInput{Title: "trip"})
		}},
		{"an answer without a question", func(t ambittest.T) {
			answers := ambittest.Answers(t, ambit.Allow, ambit.Deny)
			h := ambittest.New(t, newApp(ambit.Options{RunOptions: inMode(ambit.ModeDefault, answers)}))
			ambittest.Call(h.As(planner), plan, planInput{Title: "trip"})
			answers.CheckAsked()
		}},
		{"a call that the monitor did not expect", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{Monitor: ambittest.Verdicts(t)}))
			ambittest.Call(h.As(planner), plan, planInput{Title: "trip"})
		}},
		{"a verdict without a call", func(t ambittest.T) {
			monitor := ambittest.Verdicts(t, ambit.Verdict{})
			ambittest.Call(ambittest.New(t, newApp(ambit.Options{Monitor: monitor})).As(planner), hello, ambit.Empty{})
			monitor.CheckShown()
		}},
		{"a golden file that is missing", func(t ambittest.T) {
			ambittest.Golden(t, "testdata/none.txt", "", false)
		}},
		{"a module that is torn", func(t ambittest.T) {
			app := newApp(ambit.Options{})
			app.AddModule(ambit.Module{
				Name: "torn", Contracts: []ambit.AnyContract{ambit.NewContract[ambit.Empty, string](ambit.Spec{
					Name: "torn", Description: "Half of it.", Effect: ambit.Read, Permission: ambit.Public,
				})},
				Load: func(context.Context) ([]ambit.AnyCapability, error) { return nil, nil },
			})
			ambittest.New(t, app).CheckModules()
		}},
		{"a canary that an encoding would change", func(t ambittest.T) {
			ambittest.New(t, newKeeper(ambit.Options{})).Canary("pass\"word")
		}},
		{"a canary in a log that is not kept", func(t ambittest.T) {
			ambittest.New(t, newApp(ambit.Options{})).Canary(secret)
		}},
		{"a canary before any call", func(t ambittest.T) {
			ambittest.New(t, newKeeper(ambit.Options{})).Canary(secret)
		}},
		{"a policy that fails a listing", func(t ambittest.T) {
			h := ambittest.New(t, newApp(ambit.Options{Policy: ambit.PolicyFunc(func(context.Context, *ambit.Principal, string) (bool, error) {
				return false, context.DeadlineExceeded
			})}))
			h.As(planner).Listed()
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", "failures", strings.ReplaceAll(test.name, " ", "_")+".txt"), failure(t, test.test))
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, rewrite with -update):\n%s", path, diff)
	}
}
