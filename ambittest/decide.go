package ambittest

import (
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Decide says what the client's principal has to say about a proposal, as a person
// who looks at it first: the ruling's Preview, where it is left out, is that of what
// the person is shown now. Approvals are those of the application, and the
// proposal's id is in [ambit.Error.Approval] of the call that waits. The answer's
// output is the state that the proposal has then, as in "approved", or its error why
// nothing was decided. The client's way in is of no account: nobody decides by a call.
func (c *Client) Decide(approvals *approval.Approvals, ruling approval.Ruling) *Answer {
	c.host.t.Helper()
	a := &Answer{t: c.host.t, call: "the decision of " + c.principal.Subject}
	ctx := c.host.context()
	if ruling.Preview == (ambit.Digest{}) {
		view, err := approvals.View(ctx, c.host.app, c.principal, ruling.ID)
		if err != nil {
			a.Err = ambit.ErrorFrom(err, ambit.ErrorOptions{})
			return a
		}
		ruling.Preview = view.Seen()
	}
	record, err := approvals.Decide(ctx, c.host.app, c.principal, ruling)
	if err != nil {
		a.Err = ambit.ErrorFrom(err, ambit.ErrorOptions{})
		return a
	}
	a.Output = []byte(strconv.Quote(record.State.String()))
	return a
}
