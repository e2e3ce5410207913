package ambit

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/ambit-dev/ambit/schema"
)

// Empty is the input of a capability that takes nothing, or the output of one
// that has nothing to say. On the wire it is {}.
type Empty struct{}

// AnyContract is a [Contract] whose types are not known: what hooks, surfaces
// and listings are given. Only this package implements it.
type AnyContract interface {
	// Spec returns a copy of what the contract says.
	Spec() Spec
	// Name returns Spec().Name without copying the rest.
	Name() string
	// ToolName returns the name with underscores for dots.
	ToolName() string
	// Input returns the input's schema, nil where the types cannot be described
	// (such a contract cannot be added to an application).
	Input() *schema.Schema
	// Output returns the output's schema, nil under the same condition.
	Output() *schema.Schema

	core() *contract
}

// contract is the part of a Contract that does not depend on its types.
type contract struct {
	spec Spec
	tool string

	input         reflect.Type
	compileInput  func() (*schema.Schema, error)
	compileOutput func() (*schema.Schema, error)

	once    sync.Once
	in, out *schema.Schema
	err     error
}

// Contract is the typed, data-only half of a capability: callers need no more
// than this to call it, and it can live in a package of its own, apart from
// every implementation. It is immutable and safe for concurrent use.
type Contract[In, Out any] struct{ c contract }

// NewContract returns the contract that spec and the two types describe. It
// checks nothing; adding a capability of it to an application does.
func NewContract[In, Out any](spec Spec) *Contract[In, Out] {
	o := schema.Options{Unions: spec.Unions}
	return &Contract[In, Out]{c: contract{
		spec: cloneSpec(spec), tool: toolName(spec.Name), input: reflect.TypeFor[In](),
		compileInput:  func() (*schema.Schema, error) { return schema.For[In](o) },
		compileOutput: func() (*schema.Schema, error) { return schema.For[Out](o) },
	}}
}

// NewRawContract returns a contract over raw JSON, for operations whose types
// are not Go types. Input and output are JSON Schema 2020-12 texts. Handlers
// get the checked input with its defaults filled in, in a copy of their own.
func NewRawContract(spec Spec, input, output string) *Contract[json.RawMessage, json.RawMessage] {
	return &Contract[json.RawMessage, json.RawMessage]{c: contract{
		spec: cloneSpec(spec), tool: toolName(spec.Name), input: reflect.TypeFor[json.RawMessage](),
		compileInput:  func() (*schema.Schema, error) { return schema.Parse([]byte(input)) },
		compileOutput: func() (*schema.Schema, error) { return schema.Parse([]byte(output)) },
	}}
}

// Bind joins the contract to its implementation, an ordinary function or
// method. The implementation must be safe for concurrent use.
func (c *Contract[In, Out]) Bind(handler func(context.Context, In) (Out, error)) Capability[In, Out] {
	return Capability[In, Out]{contract: c, handler: handler}
}

// Call runs the capability within the run that ctx carries (see [App.NewRun]),
// through the whole pipeline: the same line in application code, inside another
// handler and in a test. Errors are [*Error]; a context without a run is
// CodeUnauthenticated.
//
// A handler that calls what takes a person's decision does so before it does its
// own part: by returning CodeApprovalPending or CodeApprovalDenied of such a call it
// vouches that it may be called again from the start.
func (c *Contract[In, Out]) Call(ctx context.Context, in In, options ...CallOption) (Out, error) {
	return callTyped(ctx, c, in, options)
}

// Spec returns a copy of what the contract says.
func (c *Contract[In, Out]) Spec() Spec { return cloneSpec(c.c.spec) }

// Name returns the contract's dotted name.
func (c *Contract[In, Out]) Name() string { return c.c.spec.Name }

// ToolName returns the name with underscores for dots.
func (c *Contract[In, Out]) ToolName() string { return c.c.tool }

// Input returns the input's schema, nil where the types cannot be described.
func (c *Contract[In, Out]) Input() *schema.Schema { _ = c.c.compile(); return c.c.in }

// Output returns the output's schema, nil where the types cannot be described.
func (c *Contract[In, Out]) Output() *schema.Schema { _ = c.c.compile(); return c.c.out }

func (c *Contract[In, Out]) core() *contract { return &c.c }

// compile makes both schemas, once, however many applications use the contract.
func (c *contract) compile() error {
	c.once.Do(func() {
		in, err := c.compileInput()
		if err != nil {
			c.err = fmt.Errorf("input: %w", err)
			return
		}
		out, err := c.compileOutput()
		if err != nil {
			c.err = fmt.Errorf("output: %w", err)
			return
		}
		c.in, c.out = in, out
	})
	return c.err
}

func cloneSpec(s Spec) Spec {
	s.Callers = slices.Clone(s.Callers)
	s.Scopes = slices.Clone(s.Scopes)
	s.GrantBy = slices.Clone(s.GrantBy)
	s.Examples = slices.Clone(s.Examples)
	s.Unions = slices.Clone(s.Unions)
	return s
}
