package ambittest

import (
	"context"
	"encoding/json"

	"github.com/ambit-dev/ambit"
)

// begin begins a run of the client's principal on its surface.
func (c *Client) begin() (context.Context, *ambit.Run) {
	return c.host.app.NewRun(c.host.context(), ambit.RunOptions{Principal: c.principal, Surface: c.way.Surface()})
}

// options are those of a typed call of the client.
func (c *Client) options() (options []ambit.CallOption) {
	if c.token != "" {
		options = append(options, ambit.WithConfirmation(c.token))
	}
	if c.key != "" {
		options = append(options, ambit.WithIdempotencyKey(c.key))
	}
	return options
}

// invoke calls without any protocol.
func (c *Client) invoke(a *Answer, name, input string) {
	ctx, run := c.begin()
	defer run.End()
	result, err := run.Invoke(ctx, ambit.Request{
		Name: name, Input: []byte(input), Confirmation: c.token, IdempotencyKey: c.key,
		Progress: func(p ambit.Progress) { a.Progress = append(a.Progress, p) },
	})
	if err != nil {
		a.Err = ambit.ErrorFrom(err, ambit.ErrorOptions{})
		return
	}
	a.Output = result.Output
}

// listCatalog lists without any protocol.
func (c *Client) listCatalog(cursor string) (names []string, next string, refused *ambit.Error) {
	catalog, err := c.host.app.Catalog(c.way.Surface(), func(contract ambit.AnyContract) ([]byte, error) {
		return json.Marshal(contract.Name())
	})
	if err != nil {
		return nil, "", ambit.ErrorFrom(err, ambit.ErrorOptions{})
	}
	ctx, run := c.begin()
	defer run.End()
	page, next, err := catalog.Page(ctx, run, []byte{'['}, cursor, 0)
	if err != nil {
		return nil, "", ambit.ErrorFrom(err, ambit.ErrorOptions{})
	}
	if err := json.Unmarshal(append(page, ']'), &names); err != nil {
		return nil, "", ambit.ErrorFrom(err, ambit.ErrorOptions{})
	}
	return names, next, nil
}
