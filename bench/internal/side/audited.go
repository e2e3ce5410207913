package side

import (
	"bytes"
	"context"
	"sync"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// AmbitAudited is an application that keeps an audit record, in memory, or keeps
// none.
type AmbitAudited struct {
	// Client makes calls of an effect.
	Client *Client

	store *gatedStore
	log   *audit.Log
}

// NewAmbitAudited starts an application that does the workload as an operation of
// some effect, and keeps a record of its calls if it is told to.
func NewAmbitAudited(ctx context.Context, effect ambit.Effect, recorded bool) (*AmbitAudited, error) {
	options := ambit.Options{Name: serverName, Modes: map[ambit.Surface]ambit.Mode{ambit.InProcess: ambit.ModeAuto}}
	options.Limits.Rate = ambit.Rate{Calls: ambit.Unlimited}
	a := &AmbitAudited{}
	if recorded {
		ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{1}, ambit.MinKey)})
		if err != nil {
			return nil, err
		}
		a.store = &gatedStore{Store: memory.New()}
		if a.log, err = audit.New(a.store, audit.Options{Keys: ring, Application: serverName, Queue: AuditQueue}); err != nil {
			return nil, err
		}
		options.Ledger = a.log
	}
	app := ambit.New(options)
	contract := ambit.NewContract[workload.Order, workload.Hits](ambit.Spec{
		Name: "orders.do", Description: Description, Effect: effect, Permission: permission,
	})
	app.Add(contract.Bind(answer))
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: caller()})
	a.Client = &Client{
		Call: func(_ context.Context, in workload.Order) (workload.Hits, error) { return contract.Call(ctx, in) },
		Close: func() error {
			run.End()
			if a.log == nil {
				return nil
			}
			a.release()
			return a.log.Close()
		},
	}
	return a, run.Err()
}

// AuditQueue is how many calls are recorded before the log has to write.
const AuditQueue = 1 << 14

// Hold keeps the log from writing what it has in its queue, so that what a caller
// pays is measured alone.
func (a *AmbitAudited) Hold() {
	if a.store != nil {
		a.store.gate.Lock()
		a.store.held = true
	}
}

// Drain lets the log write all that it has.
func (a *AmbitAudited) Drain(ctx context.Context) error {
	if a.store == nil {
		return nil
	}
	a.release()
	err := a.log.Flush(ctx)
	a.store.Store = memory.New() // the chain goes on; nobody reads what it was
	return err
}

func (a *AmbitAudited) release() {
	if a.store.held {
		a.store.held = false
		a.store.gate.Unlock()
	}
}

// gatedStore holds up what the log writes by itself.
type gatedStore struct {
	*memory.Store
	gate sync.Mutex
	held bool
}

func (s *gatedStore) Append(ctx context.Context, entries ...audit.Entry) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.Store.Append(ctx, entries...)
}
