package ambit_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// Calls with and without keys and deadlines, with runs within them, while people
// answer late, the monitor objects, the mode changes and calls are halted: the
// race detector sees it all, and at the end nothing is left at work. TestMain
// looks for goroutines. Each has as many turns as it takes, not a time.
func TestHammer(t *testing.T) {
	t.Parallel()
	turns := 60
	if testing.Short() {
		turns = 10
	}
	spec := func(name string, effect ambit.Effect) ambit.Spec {
		return ambit.Spec{Name: name, Description: "Test.", Effect: effect, Permission: ambit.Public, Expose: ambit.MCP}
	}
	asked := spec("inner", ambit.Write)
	asked.Approval = ambit.Confirm
	inner := ambit.NewContract[echoInput, echoOutput](asked)
	hurried := spec("outer", ambit.External)
	hurried.Deadline = 5 * time.Millisecond
	var app *ambit.App
	var ran atomic.Int64
	outer := ambit.Define(hurried, func(ctx context.Context, in echoInput) (echoOutput, error) {
		ran.Add(1)
		call := ambit.FromContext(ctx)
		var runs sync.WaitGroup
		for range 3 {
			runs.Go(func() {
				ctx, run := app.NewRun(ctx, ambit.RunOptions{Mode: ambit.ModeDefault, Budget: ambit.Budget{Calls: 2, Wall: time.Millisecond}})
				defer run.End()
				_, _ = inner.Call(ctx, in)
				call.Progress(1, 2, "one of them")
				run.Log(0, "done")
			})
		}
		defer runs.Wait()
		go call.Progress(2, 2, "perhaps too late")
		return echo(ctx, in)
	})
	app = newApp(ambit.Options{
		Ledger: memory(), Limits: ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}, InFlight: 8},
		Resolve: func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) { fresh := *p; return &fresh, nil },
		Monitor: ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
			return ambit.Verdict{Severity: ambit.Severity(rand.IntN(3))}, nil
		}),
	}, inner.Bind(echo), outer)
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: writer, Surface: ambit.MCP, Log: func(slog.Level, string) {},
		Prompter: ambit.PrompterFunc(func(ctx context.Context, _ ambit.Question) (ambit.Answer, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(rand.IntN(1000)) * time.Microsecond):
			}
			return ambit.Answer(rand.IntN(3)), nil
		}),
	})
	defer run.End()

	invoke := func() {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(5000))*time.Microsecond)
		defer cancel()
		request := ambit.Request{Name: "outer", Input: []byte(`{"text":"a"}`), WantText: true, Progress: func(ambit.Progress) {}}
		if key := rand.IntN(50); key < 25 {
			request.IdempotencyKey = fmt.Sprint(key)
		}
		_, _ = run.Invoke(ctx, request)
	}
	var callers sync.WaitGroup
	for range 12 {
		callers.Go(func() {
			for range turns {
				invoke()
			}
		})
	}
	callers.Go(func() {
		for range turns {
			app.Halt("process", ambit.Halt{Kind: ambit.HaltAgents}, ambit.Halt{Kind: ambit.HaltPrincipal, Of: writer.Key()})
			run.SetMode(ambit.Mode(rand.IntN(5)))
			invoke()
			app.Resume("process")
			invoke()
		}
	})
	callers.Wait()
	if ran.Load() == 0 {
		t.Error("want some calls to get through, got none")
	}
	if calls, bytes := ambit.AtWork(app); calls != 0 || bytes != 0 {
		t.Errorf("want nothing left at work, got %d calls and %d bytes", calls, bytes)
	}
}
