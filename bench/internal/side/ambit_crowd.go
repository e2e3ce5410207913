package side

import (
	"fmt"
	"net/http"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// AmbitCrowd is an application for many callers, each of whom may call a few of
// many capabilities. The permissions are as many as the callers, or as the
// capabilities where these are fewer; each caller holds one of them, and the
// capabilities that it opens are spread over the whole list.
type AmbitCrowd struct {
	// HTTP and MCP are the application's surfaces.
	HTTP, MCP http.Handler

	keys        []string
	permissions int
}

// AmbitKeys returns API keys for a number of callers.
func AmbitKeys(callers int) []string {
	keys := make([]string, callers)
	for i := range keys {
		keys[i] = apikey.Generate()
	}
	return keys
}

// NewAmbitCrowd starts an application with so many capabilities, for the callers
// who have the keys. The schemas of every capability are compiled anew.
func NewAmbitCrowd(capabilities int, keys []string) (*AmbitCrowd, error) {
	c := &AmbitCrowd{keys: keys, permissions: min(capabilities, len(keys))}
	app := newAmbit()
	for i := range capabilities {
		app.Add(find(fmt.Sprintf("orders.find_%05d", i), c.permission(i)).Bind(answer))
	}
	authenticator, err := apikey.New(c.callers()...)
	if err != nil {
		return nil, err
	}
	options := trust.Options{Authenticators: []trust.Authenticator{authenticator}}
	if c.HTTP, err = httpapi.New(app, httpapi.Options{Trust: options}); err != nil {
		return nil, err
	}
	c.MCP, err = mcp.New(app, mcp.Options{Trust: options})
	return c, err
}

// callers are the keys with whom they stand for.
func (c *AmbitCrowd) callers() []apikey.Key {
	callers := make([]apikey.Key, len(c.keys))
	for i, key := range c.keys {
		name := fmt.Sprintf("caller%04d", i)
		callers[i] = apikey.Key{Name: name, Secret: key, Principal: &ambit.Principal{
			Kind: ambit.KindAgent, Permissions: []string{c.permission(i)},
		}}
	}
	return callers
}

// permission is the one that capability i needs, and that caller i holds.
func (c *AmbitCrowd) permission(i int) string {
	return fmt.Sprintf("orders:find%d", i%c.permissions)
}

// Key returns the API key of caller i.
func (c *AmbitCrowd) Key(i int) string { return c.keys[i] }

// Path returns where the API has a capability that caller i may call.
func (c *AmbitCrowd) Path(i int) string {
	return fmt.Sprintf("/api/orders/find_%05d", i%c.permissions)
}

// Tool returns the name of a tool that caller i may call.
func (c *AmbitCrowd) Tool(i int) string { return toolName(i % c.permissions) }
