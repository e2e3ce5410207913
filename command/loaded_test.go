package command_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ambit-dev/ambit"
)

// newLoaded is an application to halt while it works. It writes to standard
// output when a call starts, and to standard error when the switch is thrown.
func newLoaded(sources ...ambit.HaltSource) *ambit.App {
	app := ambit.New(ambit.Options{
		Name: "loaded", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		HaltSources: sources,
		Limits:      ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}, InFlight: ambit.Unlimited},
	})
	started := func(name string) { fmt.Println(name, time.Now().UnixNano()) }
	app.Add(
		ambit.Define(ambit.Spec{
			Name: "look", Description: "Look at something.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) {
			started("look")
			return ambit.Empty{}, nil
		}),
		ambit.Define(ambit.Spec{
			Name: "change", Description: "Change something.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) {
			started("change")
			return ambit.Empty{}, nil
		}),
		ambit.Define(ambit.Spec{
			Name: "work", Description: "Work until told otherwise.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP,
		}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
			started("work")
			<-ctx.Done()
			return ambit.Empty{}, ctx.Err()
		}),
	)
	return app
}
