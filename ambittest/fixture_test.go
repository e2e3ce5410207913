package ambittest_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/internal/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

type planInput struct {
	Title string        `json:"title" minLength:"1"`
	Steps int           `json:"steps" default:"2" minimum:"1" maximum:"5"`
	Pause time.Duration `json:"pause,omitempty"`
}

type planOutput struct {
	Title string        `json:"title"`
	Steps []string      `json:"steps"`
	Pause time.Duration `json:"pause,omitempty"`
}

var (
	plan = ambit.NewContract[planInput, planOutput](ambit.Spec{
		Name: "plan.make", Description: "Make a plan.", Effect: ambit.Write, Permission: "plan:write",
		Expose: ambit.HTTP | ambit.MCP, Path: "plans",
	})
	hello = ambit.NewContract[ambit.Empty, string](ambit.Spec{
		Name: "hello", Description: "Say hello.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
	})
	inside = ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{
		Name: "inside", Description: "Only for the application itself.", Effect: ambit.Read, Permission: ambit.Authenticated,
	})
)

func newApp(o ambit.Options) *ambit.App {
	o.Name, o.Logger = "planner", slog.New(slog.DiscardHandler)
	app := ambit.New(o)
	app.Add(
		plan.Bind(func(ctx context.Context, in planInput) (planOutput, error) {
			if in.Title == "taken" {
				return planOutput{}, ambit.Errorf(ambit.CodeConflict, "There is a plan of that title.").WithDetails(map[string]any{"version": 7})
			}
			out := planOutput{Title: in.Title, Pause: in.Pause}
			for i := range in.Steps {
				ambit.FromContext(ctx).Progress(float64(i+1), float64(in.Steps), "thinking")
				out.Steps = append(out.Steps, fmt.Sprintf("step %d", i+1))
			}
			return out, nil
		}),
		hello.Bind(sayHello),
		inside.Bind(func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }),
	)
	return app
}

func sayHello(context.Context, ambit.Empty) (string, error) { return "Hello", nil }

var planner = ambittest.User("petra", "plan:write")

// failing is a test that may fail without failing the one that looks on.
type failing struct {
	ctx  context.Context
	said strings.Builder
}

func (f *failing) Context() context.Context { return f.ctx }

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) { fmt.Fprintf(&f.said, format+"\n", args...) }

func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// failure runs a test and returns what it said when it failed.
func failure(t *testing.T, test func(t ambittest.T)) string {
	t.Helper()
	f := &failing{ctx: t.Context()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.said.String()
}
