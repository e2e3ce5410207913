package ambit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
)

// The types of a program whose author half remembers what Check looks like.
type (
	ruled struct{ Rule }
	Rule  struct {
		Name string `json:"name"`
	}
	forgotten struct{}
	single    struct{}
	erring    struct{}
	library   struct{}
	timed     struct{}
	nested    struct {
		Inner Rule `json:"inner"`
	}
)

func (*Rule) Check(context.Context) []ambit.Fault    { return []ambit.Fault{{Message: "asked"}} }
func (forgotten) Check() []ambit.Fault               { return nil }
func (*single) Check(context.Context) ambit.Fault    { return ambit.Fault{} }
func (erring) Check(context.Context) *ambit.Error    { return nil }
func (library) Check() error                         { return nil }
func (timed) Check(context.Context, int) ambit.Fault { return ambit.Fault{} }

func define[In any]() ambit.AnyCapability {
	spec := echoSpec()
	spec.Expose = ambit.HTTP
	return ambit.Define(spec, func(context.Context, In) (ambit.Empty, error) { return ambit.Empty{}, nil })
}

// A Check that would never be asked is a mistake at registration, where it looks
// like what it was meant to be.
func TestCheckOfTheWrongForm(t *testing.T) {
	t.Parallel()
	const cure = "make it Check(context.Context) []ambit.Fault, or give it another name"
	for _, test := range []struct {
		name  string
		input ambit.AnyCapability
		want  string // part of the refusal; "" for none
	}{
		{"without a context", define[forgotten](), cure},
		{"without a context, by pointer", define[*forgotten](), cure},
		{"one fault", define[single](), cure},
		{"an error of Ambit's", define[erring](), cure},
		{"something else of that name", define[library](), ""},
		{"with more to know", define[timed](), ""},
		{"as it should be", define[Rule](), ""},
		{"as it should be, promoted", define[ruled](), ""},
		{"as it should be, within", define[nested](), ""},
	} {
		got := panicText(func() { newApp(ambit.Options{}, test.input) })
		if test.want == "" && got != "no panic" || !strings.Contains(got, test.want) {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
	}
}

// The input's own Check is asked, however the handler takes the input; one within
// is not.
func TestCheckIsAsked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		input ambit.AnyCapability
		text  string
		want  ambit.Code
	}{
		{"by value", define[Rule](), `{"name":"a"}`, ambit.CodeInvalidInput},
		{"by pointer", define[*Rule](), `{"name":"a"}`, ambit.CodeInvalidInput},
		{"within", define[nested](), `{"inner":{"name":"a"}}`, ""},
	} {
		ctx, run := newApp(ambit.Options{}, test.input).NewRun(t.Context(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
		_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(test.text)})
		run.End()
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s: want %q, got %v", test.name, test.want, err)
		}
	}
}
