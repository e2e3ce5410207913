package side

import (
	"fmt"
	"net/http"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
)

// AmbitMCP returns Ambit's MCP endpoint with everything that [AmbitHTTP] has.
func AmbitMCP() http.Handler {
	app := newAmbit()
	app.Add(find("orders.find").Bind(answer))
	return ambitEndpoint(app)
}

// AmbitCatalog returns Ambit's MCP endpoint with count tools, which it lists in
// pages of ambit.DefaultPage. The schemas of every tool are compiled anew, as
// those of distinct types would be.
func AmbitCatalog(count int) http.Handler {
	app := newAmbit()
	for i := range count {
		app.Add(find(fmt.Sprintf("orders.find_%05d", i)).Bind(answer))
	}
	return ambitEndpoint(app)
}

func ambitEndpoint(app *ambit.App) http.Handler {
	server, err := mcp.New(app, mcp.Options{Trust: keyed()})
	if err != nil {
		panic(fmt.Sprintf("the endpoint can't be built: %v", err))
	}
	return server
}
