package ambittest

import (
	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// CheckListings checks for each principal, on every way in, that what is listed
// can be called and that what can be called is listed. It runs no capability:
// what can be called is what [ambit.Run.Admit] lets through. Differences fail
// the test, all of them.
func (h *Host) CheckListings(principals ...*ambit.Principal) {
	h.t.Helper()
	for _, p := range principals {
		for _, way := range Ways() {
			c := h.As(p).Over(way)
			names, refused := c.list()
			switch {
			case refused == nil:
			case refused.Code == ambit.CodeUnauthenticated && p.Anonymous():
				continue // who shows no credential is turned away before any name is looked at
			default:
				h.t.Errorf("%s: want a listing, got %s", c.describe("the listing"), inFull(refused))
				continue
			}
			if diff := cmp.Diff(c.callable(), names); diff != "" {
				h.t.Errorf("%s (-callable +listed):\n%s", c.describe("the listing"), diff)
			}
		}
	}
}

// callable returns the dotted names of what the client may call, in order.
func (c *Client) callable() (names []string) {
	ctx, run := c.begin()
	defer run.End()
	for _, contract := range c.host.app.Capabilities() {
		switch err := run.Admit(ctx, c.way.nameOf(contract)); ambit.CodeOf(err) {
		case ambit.CodeNotFound, ambit.CodeUnauthenticated, ambit.CodeForbidden, ambit.CodeInsufficientScope, ambit.CodeAgentRequired:
		default:
			names = append(names, contract.Name())
		}
	}
	return names
}
