package ambit_test

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// golden compares got with a file under testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
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

type echoInput struct {
	Text  string `json:"text" doc:"What to say" minLength:"1" maxLength:"20"`
	Times int    `json:"times" default:"1" minimum:"1" maximum:"3"`
}

type echoOutput struct {
	Text string `json:"text" maxLength:"200"`
}

// records keeps what observers are told.
type records struct {
	mu       sync.Mutex
	started  []ambit.Event
	finished []ambit.Event
}

func (r *records) Start(ctx context.Context, e ambit.Event) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, e)
	return ctx
}

func (r *records) Finish(_ context.Context, e ambit.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = append(r.finished, e)
}

// last returns the event of the call that finished last.
func (r *records) last(t *testing.T) ambit.Event {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.finished) == 0 {
		t.Fatal("no event")
	}
	return r.finished[len(r.finished)-1]
}

var alice = &ambit.Principal{Authority: "test", Subject: "alice", Permissions: []string{"echo"}, Unscoped: true}

var anonymous = &ambit.Principal{Kind: ambit.KindAnonymous}

func echoSpec() ambit.Spec {
	return ambit.Spec{
		Name: "echo", Description: "Say it again.", Effect: ambit.Read, Permission: "echo",
		Expose: ambit.HTTP | ambit.MCP,
	}
}

func echo(_ context.Context, in echoInput) (echoOutput, error) {
	var out echoOutput
	for range in.Times {
		out.Text += in.Text
	}
	return out, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// newApp returns an application whose faults are not printed.
func newApp(o ambit.Options, capabilities ...ambit.AnyCapability) *ambit.App {
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Logger == nil {
		o.Logger = quiet()
	}
	app := ambit.New(o)
	app.Add(capabilities...)
	return app
}

// begin begins a run that ends with the test.
func begin(t testing.TB, app *ambit.App, p *ambit.Principal, s ambit.Surface) (context.Context, *ambit.Run) {
	t.Helper()
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: p, Surface: s})
	t.Cleanup(run.End)
	return ctx, run
}

// failure returns the error of a call as every surface sends it.
func failure(t testing.TB, err error) *ambit.Error {
	t.Helper()
	e, ok := err.(*ambit.Error)
	if !ok {
		t.Fatalf("want an *ambit.Error, got %T: %v", err, err)
	}
	return e
}
