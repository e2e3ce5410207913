package side

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
)

// AmbitMCP returns Ambit's MCP endpoint with everything that [AmbitHTTP] has.
func AmbitMCP() http.Handler {
	app := newAmbit()
	app.Add(find("orders.find", permission).Bind(answer))
	return ambitEndpoint(app)
}

// AmbitCatalog returns Ambit's MCP endpoint with count tools, which it lists in
// pages of ambit.DefaultPage. The schemas of every tool are compiled anew, as
// those of distinct types would be.
func AmbitCatalog(count int) http.Handler { return ambitEndpoint(ambitLarge(count)) }

// AmbitPages returns a function that appends the first page of a catalog of
// count capabilities to a buffer, as a surface has it done: every entry decided
// by the check that a call gets, and copied.
func AmbitPages(ctx context.Context, count int) (page func(dst []byte) ([]byte, error), err error) {
	app := ambitLarge(count)
	catalog, err := app.Catalog(ambit.MCP, func(c ambit.AnyContract) ([]byte, error) {
		return slices.Concat(c.Input().JSON(), c.Output().JSON()), nil
	})
	if err != nil {
		return nil, err
	}
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: caller(), Surface: ambit.MCP})
	return func(dst []byte) ([]byte, error) {
		dst, _, err := catalog.Page(ctx, run, dst, "", 0)
		return dst, err
	}, run.Err()
}

func ambitLarge(count int) *ambit.App {
	app := newAmbit()
	for i := range count {
		app.Add(find(fmt.Sprintf("orders.find_%05d", i), permission).Bind(answer))
	}
	return app
}

// ambitEndpoint panics where the endpoint cannot be built, which is a bug of the
// benchmark.
func ambitEndpoint(app *ambit.App) http.Handler {
	server, err := mcp.New(app, mcp.Options{Trust: keyed()})
	if err != nil {
		panic(fmt.Sprintf("the endpoint can't be built: %v", err))
	}
	return server
}
