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
	token     string // confirms its calls; "": nothing does
	key       string // the idempotency key of its calls; "": none
}

// Over returns a client of the same principal on another way in.
func (c *Client) Over(way Way) *Client {
	other := *c
	other.way = way
	return &other
}

// Confirming returns a client whose calls carry a confirmation: the token of
// [ambit.Awaited] in the answer to the same call without one.
func (c *Client) Confirming(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// Keyed returns a client whose calls carry an idempotency key: the same call, made
// once more, is answered from the record of the first.
func (c *Client) Keyed(key string) *Client {
	other := *c
	other.key = key
	return &other
}

// Confirm calls a capability as Call does, and once more with the confirmation
// that was given out where it has to be confirmed. The answer is the last one.
func (c *Client) Confirm(name, input string) *Answer {
	c.host.t.Helper()
	a := c.Call(name, input)
	if a.Err == nil || a.Err.Code != ambit.CodeConfirmationRequired || a.Err.Approval == nil {
		return a
	}
	return c.Confirming(a.Err.Approval.Token).Call(name, input)
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
	a.lacked = c.lacked(name, a.Err)
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

// lacked says which permission a call was refused for, of which the caller is not
// told and the author of a test has to be.
func (c *Client) lacked(name string, e *ambit.Error) string {
	if e == nil || e.Code != ambit.CodeForbidden || c.host.recorder == nil {
		return ""
	}
	for _, event := range slices.Backward(c.host.recorder.Events()) {
		if event.Capability == name && event.Principal == c.principal.Key() && event.Lacks != "" {
			return "\nThe principal lacks the permission \"" + event.Lacks + "\"."
		}
	}
	return ""
}
