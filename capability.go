package ambit

import (
	"context"
	"reflect"
	"slices"

	"github.com/ambit-dev/ambit/schema"
)

// AnyCapability is a [Capability] whose types are not known. Only this package
// implements it.
type AnyCapability interface {
	// Contract returns the capability's contract.
	Contract() AnyContract
	// Middleware returns the names of the capability's own middleware,
	// outermost first.
	Middleware() []string

	bind() (binding, []Middleware)
}

// Capability is one operation: a contract and its implementation. It is a
// value; the With methods return a changed copy. Add it to an application with
// [App.Add].
type Capability[In, Out any] struct {
	contract       *Contract[In, Out]
	handler        func(context.Context, In) (Out, error)
	authorizeInput func(context.Context, In) error
	preview        func(context.Context, In) (Preview, error)
	status         func(In) string
	text           func(Out) string
	content        func(Out) []Content
	middleware     []Middleware
}

// Define makes a capability in one step, where contract and implementation may
// live together. It is NewContract(spec).Bind(handler).
func Define[In, Out any](spec Spec, handler func(context.Context, In) (Out, error)) Capability[In, Out] {
	return NewContract[In, Out](spec).Bind(handler)
}

// WithAuthorizeInput sets the application's rule over the checked input, such
// as who may touch which record. It runs after the permission and schema checks
// and before anything is claimed or run, and must change nothing. It refuses by
// returning an error, usually Errorf(CodeForbidden, ...); a plain error counts
// as a failure of something the rule depends on.
func (c Capability[In, Out]) WithAuthorizeInput(rule func(context.Context, In) error) Capability[In, Out] {
	c.authorizeInput = rule
	return c
}

// WithPreview sets what tells a person, or the caller, what a call would change
// before it is allowed. It is asked when a call is prepared, when somebody
// decides about it, and again before it runs: if it says something else then,
// the call is a conflict. It runs inside the middleware, as the caller whose
// call it is, and only reads; the preview must be the same as long as nothing
// has changed. A handler finds the version that was allowed in [Call.Approval].
func (c Capability[In, Out]) WithPreview(preview func(context.Context, In) (Preview, error)) Capability[In, Out] {
	c.preview = preview
	return c
}

// WithStatus sets the capability's own sentence about a call, shown to a person
// who is asked about it: "Delete 3 notes". It must not depend on anything but
// the input.
func (c Capability[In, Out]) WithStatus(status func(In) string) Capability[In, Out] {
	c.status = status
	return c
}

// WithText sets a compact text form of the output, for surfaces that hand text
// to a model. Without it the text form is the output's JSON, or the string
// itself where the output is one.
func (c Capability[In, Out]) WithText(text func(Out) string) Capability[In, Out] {
	c.text = text
	return c
}

// WithContent sets what surfaces that can show images, sound or documents give
// beside or instead of the text form.
func (c Capability[In, Out]) WithContent(content func(Out) []Content) Capability[In, Out] {
	c.content = content
	return c
}

// WithMiddleware appends middleware of this capability's own, which runs inside
// the application's.
func (c Capability[In, Out]) WithMiddleware(middleware ...Middleware) Capability[In, Out] {
	c.middleware = append(slices.Clone(c.middleware), middleware...)
	return c
}

// Contract returns the capability's contract.
func (c Capability[In, Out]) Contract() AnyContract { return c.contract }

// Middleware returns the names of the capability's own middleware, outermost
// first.
func (c Capability[In, Out]) Middleware() []string {
	names := make([]string, len(c.middleware))
	for i, m := range c.middleware {
		names[i] = m.Name
	}
	return names
}

func (c Capability[In, Out]) bind() (binding, []Middleware) {
	if c.handler == nil {
		return nil, c.middleware
	}
	return &typedBinding[In, Out]{Capability: c, checker: checkerOf[In]()}, c.middleware
}

// binding makes the frame of one call.
type binding interface {
	newFrame() frame
}

// frame holds input and output of one call, whatever their types.
type frame interface {
	// bind joins a frame that was made by a contract to the implementation; it
	// reports false for one of other types.
	bind(b binding) bool
	// decode sets the input from JSON text and checks it.
	decode(in *schema.Schema, data []byte, depth int) []Fault
	// complete fills in defaults of an input that is a Go value and checks it.
	complete(in *schema.Schema) []Fault
	// rules asks the input's own rules across its members.
	rules(ctx context.Context) []Fault
	// canonical returns the input's JSON as the handler would get it.
	canonical(in *schema.Schema) []byte
	status() string
	authorizes() bool
	authorize(ctx context.Context) error
	previews() bool
	preview(ctx context.Context) (Preview, error)
	// handle runs the handler and keeps the output.
	handle(ctx context.Context) error
	output() any
	// replace sets the output; it reports false for another type.
	replace(output any) bool
	checkOutput(out *schema.Schema) []Fault
	// restore sets the output from the JSON of an earlier one and checks it.
	restore(out *schema.Schema, data []byte) []Fault
	appendOutput(out *schema.Schema, dst []byte) ([]byte, []Fault)
	text() (string, bool)
	content() []Content
}

type typedBinding[In, Out any] struct {
	Capability[In, Out]
	checker func(*In) Checker // nil: inputs have no rules of their own
}

func (b *typedBinding[In, Out]) newFrame() frame { return &typedFrame[In, Out]{binding: b} }

type typedFrame[In, Out any] struct {
	binding *typedBinding[In, Out]
	in      In
	out     Out
}

func (f *typedFrame[In, Out]) bind(b binding) (ok bool) {
	f.binding, ok = b.(*typedBinding[In, Out])
	return ok
}

func (f *typedFrame[In, Out]) decode(in *schema.Schema, data []byte, depth int) []Fault {
	return in.Decode(data, reflect.ValueOf(&f.in).Elem(), depth)
}

func (f *typedFrame[In, Out]) complete(in *schema.Schema) []Fault {
	v := reflect.ValueOf(&f.in).Elem()
	in.Complete(v)
	return in.CheckValue(v)
}

func (f *typedFrame[In, Out]) rules(ctx context.Context) []Fault {
	if f.binding.checker == nil {
		return nil
	}
	if c := f.binding.checker(&f.in); c != nil {
		return c.Check(ctx)
	}
	return nil
}

// canonical cannot fail: the input has been checked.
func (f *typedFrame[In, Out]) canonical(in *schema.Schema) []byte {
	text, _ := in.Append(make([]byte, 0, usualInput), reflect.ValueOf(&f.in).Elem())
	return text
}

// usualInput is how many bytes most inputs have at most.
const usualInput = 256

func (f *typedFrame[In, Out]) status() string {
	if f.binding.Capability.status == nil {
		return ""
	}
	return f.binding.Capability.status(f.in)
}

func (f *typedFrame[In, Out]) authorizes() bool { return f.binding.authorizeInput != nil }

func (f *typedFrame[In, Out]) authorize(ctx context.Context) error {
	return f.binding.authorizeInput(ctx, f.in)
}

func (f *typedFrame[In, Out]) previews() bool { return f.binding.Capability.preview != nil }

func (f *typedFrame[In, Out]) preview(ctx context.Context) (Preview, error) {
	return f.binding.Capability.preview(ctx, f.in)
}

func (f *typedFrame[In, Out]) handle(ctx context.Context) (err error) {
	f.out, err = f.binding.handler(ctx, f.in)
	return err
}

func (f *typedFrame[In, Out]) output() any { return f.out }

func (f *typedFrame[In, Out]) replace(output any) bool {
	out, ok := output.(Out)
	if ok {
		f.out = out
	}
	return ok
}

func (f *typedFrame[In, Out]) checkOutput(out *schema.Schema) []Fault {
	return out.CheckValue(reflect.ValueOf(&f.out).Elem())
}

func (f *typedFrame[In, Out]) restore(out *schema.Schema, data []byte) []Fault {
	return out.Decode(data, reflect.ValueOf(&f.out).Elem(), 0)
}

func (f *typedFrame[In, Out]) appendOutput(out *schema.Schema, dst []byte) ([]byte, []Fault) {
	return out.Append(dst, reflect.ValueOf(&f.out).Elem())
}

func (f *typedFrame[In, Out]) text() (string, bool) {
	if f.binding.Capability.text == nil {
		return "", false
	}
	return f.binding.Capability.text(f.out), true
}

func (f *typedFrame[In, Out]) content() []Content {
	if f.binding.Capability.content == nil {
		return nil
	}
	return f.binding.Capability.content(f.out)
}
