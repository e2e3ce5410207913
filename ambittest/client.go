package ambittest

import (
	"slices"

	"github.com/ambit-dev/ambit"
)

// Client calls an application as one principal on one way in. It is immutable
// and safe for concurrent use.
type Client struct {
	host      *Host
	principal *ambit.Principal
	way       Way
}

// Over returns a client of the same principal on another way in.
func (c *Client) Over(way Way) *Client {
	other := *c
	other.way = way
	return &other
}

// Call calls a capability by its dotted name, on every way, with JSON text as
// the input; none is {}. What came of it is in the answer, an error included.
func (c *Client) Call(name, input string) *Answer {
	c.host.t.Helper()
	a := &Answer{t: c.host.t, call: c.describe(name)}
	switch c.way {
	case InProcess, CommandLine:
		c.invoke(a, name, input)
	case HTTP:
		c.post(a, name, input)
	case MCP, MCP2025:
		c.callTool(a, name, input)
	default:
		c.host.t.Fatalf("%s: there is no such way in", a.call)
	}
	c.host.transcript.keepAnswer(a)
	return a
}

// Listed returns the dotted names of what the client is shown, sorted. In
// process and on the command line that is the catalog; elsewhere it is asked
// for page by page, as any client has to. A listing that is refused ends the
// test.
func (c *Client) Listed() []string {
	c.host.t.Helper()
	names, refused := c.list()
	if refused != nil {
		c.host.t.Fatalf("%s: want a listing, got %s", c.describe("the listing"), inFull(refused))
	}
	return names
}

func (c *Client) list() (names []string, refused *ambit.Error) {
	c.host.t.Helper()
	page := c.listCatalog
	switch c.way {
	case HTTP:
		page = c.listAPI
	case MCP, MCP2025:
		page = c.listTools
	}
	cursor, seen := "", map[string]bool{}
	for !seen[cursor] {
		seen[cursor] = true
		some, next, refused := page(cursor)
		if refused != nil {
			return nil, refused
		}
		if names = append(names, some...); next == "" {
			slices.Sort(names)
			return names, nil
		}
		cursor = next
	}
	c.host.t.Fatalf("%s: the same cursor was given twice", c.describe("the listing"))
	return nil, nil
}

// contract returns the contract of that name, or nil.
func (c *Client) contract(name string) ambit.AnyContract {
	for _, contract := range c.host.app.Capabilities() {
		if contract.Name() == name {
			return contract
		}
	}
	return nil
}

// describe says in messages who asked for what.
func (c *Client) describe(what string) string {
	who := c.principal.Subject
	if c.principal.Anonymous() {
		who = "an anonymous caller"
	}
	return what + " as " + who + " over " + c.way.String()
}
