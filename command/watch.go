package command

import (
	"context"
	"sync"

	"github.com/ambit-dev/ambit"
)

// watching does some work of an application while its halt switch is read, once
// before it begins and then until it has ended.
func watching(ctx context.Context, app *ambit.App, work func() error) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	app.ReadHaltSources(ctx)
	watch.Go(func() { app.Watch(ctx) })
	return work()
}
