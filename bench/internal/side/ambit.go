package side

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ambit-dev/ambit"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// permission is what a caller must hold to run the workload's operation.
const permission = "orders:read"

// caller is who calls Ambit where nobody is authenticated over a network.
func caller() *ambit.Principal {
	return &ambit.Principal{
		Subject:     "worker",
		Kind:        ambit.KindService,
		Permissions: []string{"customers:read", "orders:read", "orders:write"},
		Unscoped:    true,
	}
}

// counter is an observer that does what every observer has to do at the least:
// it takes the event of each call.
type counter struct {
	calls, failures atomic.Int64
}

func (c *counter) Start(ctx context.Context, _ ambit.Event) context.Context { return ctx }

func (c *counter) Finish(_ context.Context, e ambit.Event) {
	c.calls.Add(1)
	if e.Code != "" {
		c.failures.Add(1)
	}
}

// find is the contract of the workload's operation, under a name and for callers
// who hold a permission.
func find(name, permission string) *ambit.Contract[workload.Order, workload.Hits] {
	return ambit.NewContract[workload.Order, workload.Hits](ambit.Spec{
		Name:        name,
		Description: Description,
		Effect:      ambit.Read,
		Permission:  permission,
		Expose:      ambit.HTTP | ambit.MCP,
		// The peers publish theirs too.
		PublishOutput: true,
	})
}

func answer(_ context.Context, in workload.Order) (workload.Hits, error) {
	return workload.Find(in), nil
}

// newAmbit returns an application whose limits are counted like any others, and
// so wide that no benchmark reaches them.
func newAmbit() *ambit.App {
	return ambit.New(ambit.Options{
		Name:      serverName,
		Version:   serverVersion,
		Observers: []ambit.Observer{new(counter)},
		Limits: ambit.Limits{
			Rate:     ambit.Rate{Calls: 1_000_000_000, Per: time.Second},
			InFlight: 1_000,
		},
	})
}

// AmbitClient returns Ambit's own typed call in process, with permission, both
// checks and an observer. All calls belong to one run, as those of a request do.
func AmbitClient(ctx context.Context) (*Client, error) {
	contract, app := find("orders.find", permission), newAmbit()
	app.Add(contract.Bind(answer))
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: caller()})
	return &Client{
		Call: func(_ context.Context, in workload.Order) (workload.Hits, error) {
			return contract.Call(ctx, in)
		},
		Close: func() error {
			run.End()
			return nil
		},
	}, run.Err()
}
