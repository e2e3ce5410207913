package ambittest

import (
	"encoding/json"
	"reflect"

	"github.com/ambit-dev/ambit"
)

// Call calls a capability with Go values, on the client's way in, and returns
// its output. A call that fails ends the test.
func Call[In, Out any](c *Client, contract *ambit.Contract[In, Out], in In) Out {
	c.host.t.Helper()
	out, failure := call(c, contract, in)
	if failure != nil {
		c.host.t.Fatalf("%s: want success, got %s", c.describe(contract.Name()), inFull(failure)+c.lacked(contract.Name(), failure))
	}
	return out
}

// Refused calls a capability with Go values, on the client's way in, and returns
// the error. A call that does not fail with that code ends the test.
func Refused[In, Out any](c *Client, contract *ambit.Contract[In, Out], in In, want ambit.Code) *ambit.Error {
	c.host.t.Helper()
	out, failure := call(c, contract, in)
	switch {
	case failure == nil:
		c.host.t.Fatalf("%s: want %s, got success:\n%+v", c.describe(contract.Name()), want, out)
	case failure.Code != want:
		c.host.t.Fatalf("%s: want %s, got %s", c.describe(contract.Name()), want, inFull(failure)+c.lacked(contract.Name(), failure))
	}
	return failure
}

func call[In, Out any](c *Client, contract *ambit.Contract[In, Out], in In) (out Out, failure *ambit.Error) {
	c.host.t.Helper()
	if c.way == InProcess {
		ctx, run := c.begin()
		defer run.End()
		out, err := contract.Call(ctx, in, c.options()...)
		failure := ambit.ErrorFrom(err, ambit.ErrorOptions{})
		c.host.transcript.keepTyped(c.describe(contract.Name()), out, failure)
		return out, failure
	}
	input, err := encode(contract, in)
	if err != nil {
		c.host.t.Fatalf("%s: the input has no JSON form: %v", c.describe(contract.Name()), err)
	}
	answer := c.Call(contract.Name(), string(input))
	if answer.Err != nil {
		return out, answer.Err
	}
	if faults := contract.Output().Decode(answer.Output, reflect.ValueOf(&out).Elem(), 0); len(faults) > 0 {
		c.host.t.Fatalf("%s: the output breaks the contract: %+v\n%s", c.describe(contract.Name()), faults, answer.Output)
	}
	return out, nil
}

// encode writes an input as a client of the contract would, or plainly where
// the contract does not allow it: what is then wrong is for the application to
// say.
func encode[In, Out any](contract *ambit.Contract[In, Out], in In) ([]byte, error) {
	schema := contract.Input()
	if schema == nil {
		return json.Marshal(in)
	}
	plain, value := in, reflect.ValueOf(&in).Elem()
	schema.Complete(value)
	text, faults := schema.Append(nil, value)
	if len(faults) > 0 {
		return json.Marshal(plain)
	}
	return text, nil
}
