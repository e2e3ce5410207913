package ambit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// nesting is an application whose capability "outer" does what a test says with
// "change", which needs somebody's word.
func newNesting(level ambit.Approval, handle func(context.Context, *world, *ambit.Contract[echoInput, echoOutput]) error) *world {
	spec := writeSpec("outer")
	spec.Effect = ambit.External
	var w *world
	outer := ambit.Define(spec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, handle(ctx, w, ambit.NewContract[echoInput, echoOutput](w.spec))
	})
	harmless := writeSpec("harmless")
	w = newWorld(func(w *world) {
		w.spec.Effect, w.spec.Approval = ambit.External, level
		w.options.Policy = anyone{}
	}, outer, ambit.Define(harmless, echo))
	return w
}

// anyone lets everybody act as everybody.
type anyone struct{}

func (anyone) Allow(context.Context, *ambit.Principal, string) (bool, error) { return true, nil }

func (anyone) AllowDelegate(context.Context, string, *ambit.Principal, *ambit.Principal) (bool, error) {
	return true, nil
}

func change(ctx context.Context, _ *world, c *ambit.Contract[echoInput, echoOutput]) error {
	_, err := c.Call(ctx, echoInput{Text: "a"})
	return err
}

// A call within a call that needs a person asks its own question, and whoever
// called the outer one is told; one that needs to be confirmed is forbidden.
func TestT19_NestedCalls(t *testing.T) {
	t.Parallel()
	outer := ambit.Request{Name: "outer", Input: []byte(`{}`)}
	for _, test := range []struct {
		name   string
		level  ambit.Approval
		handle func(context.Context, *world, *ambit.Contract[echoInput, echoOutput]) error
		want   string // at first
		then   string // once it was approved
	}{
		{"a person", ambit.Human, change, `{"code":"approval_pending","message":"A part of this call waits for a person's decision.","hint":"Repeat the very same call later.","retryAfter":5,"executed":"no","approval":{"id":"ID","level":"human","state":"pending"`, `{}`},
		{"another pair of eyes", ambit.FourEyes, change, `"level":"four-eyes","state":"pending"`, `{}`},
		{"in a run of its own", ambit.Human, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
			ctx, run := w.NewRun(ctx, ambit.RunOptions{})
			defer run.End()
			return change(ctx, w, c)
		}, `"approval":{"id":"ID"`, `{}`},
		{"in the name of a service", ambit.Human, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
			ctx, run := w.Delegate(ctx, ambit.RunOptions{Principal: service})
			defer run.End()
			return change(ctx, w, c)
		}, `{"code":"approval_pending","message":"A part of this call waits for a person's decision.","hint":"Repeat the very same call later.","retryAfter":5,"executed":"no"}`, `{}`},
		{"said anew", ambit.Human, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
			if err := change(ctx, w, c); err != nil {
				return ambit.Errorf(ambit.CodeConflict, "Not now.")
			}
			return nil
		}, `"Not now."`, `{}`},
		{"after something was done", ambit.Human, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
			spec := writeSpec("harmless")
			if _, err := ambit.NewContract[echoInput, echoOutput](spec).Call(ctx, echoInput{Text: "a"}); err != nil {
				return err
			}
			return change(ctx, w, c)
		}, `"approval_pending","message":"A part of this call waits for a person's decision.","hint":"Repeat the very same call later.","retryAfter":5,"executed":"unknown"`, `{}`},
		{"made up by the handler", ambit.Human, func(context.Context, *world, *ambit.Contract[echoInput, echoOutput]) error {
			return &ambit.Error{Code: ambit.CodeApprovalPending, Approval: &ambit.Awaited{ID: "forged"}}
		}, `"code":"internal"`, ""},
		{"a confirmation", ambit.Confirm, func(ctx context.Context, _ *world, c *ambit.Contract[echoInput, echoOutput]) error {
			_, err := c.Call(ctx, echoInput{Text: "a"})
			if got := ambit.CodeOf(err); got != ambit.CodeForbidden {
				return ambit.Errorf(ambit.CodeNotFound, "%v", err)
			}
			return ambit.Errorf(ambit.CodeConflict, "It was forbidden.")
		}, "It was forbidden.", ""},
	} {
		w := newNesting(test.level, test.handle)
		text, _ := w.call(writer, ambit.HTTP, outer)
		is(t, test.name, test.want, text)
		if w.runs.Load() != 0 {
			t.Errorf("%s: want no run of the inner call", test.name)
		}
		if test.then == "" {
			continue
		}
		w.mustDecide(t, carol, approval.Approve, "")
		text, _ = w.call(writer, ambit.HTTP, outer)
		is(t, test.name+", approved", test.then, text)
		if w.runs.Load() != 1 {
			t.Errorf("%s, approved: want one run of the inner call, got %d", test.name, w.runs.Load())
		}
	}
}

var service = &ambit.Principal{Authority: "test", Subject: "service", Kind: ambit.KindService, Unscoped: true}

// A denial reaches the caller too.
func TestT19_DenialsReachTheCaller(t *testing.T) {
	t.Parallel()
	w := newNesting(ambit.Human, change)
	outer := ambit.Request{Name: "outer", Input: []byte(`{}`), IdempotencyKey: "k"}
	for range 2 { // a key of the outer call is not used up by a call that only waits
		text, _ := w.call(writer, ambit.HTTP, outer)
		is(t, "asked", `"approval_pending"`, text)
		if strings.HasSuffix(text, "replayed") {
			t.Errorf("want no record of a call that waits, got %s", text)
		}
	}
	w.mustDecide(t, carol, approval.Deny, "no")
	text, _ := w.call(writer, ambit.HTTP, outer)
	is(t, "denied", `{"code":"approval_denied","message":"A person has denied a part of this call."`, text)
	is(t, "denied", `"state":"denied","reason":"no"`, text)
}

// An approval of the outer call is none of the inner one.
func TestT19_OuterApprovalCoversNothingElse(t *testing.T) {
	t.Parallel()
	spec := writeSpec("outer")
	spec.Effect, spec.Approval = ambit.Destructive, ambit.Human
	var w *world
	w = newWorld(func(w *world) { w.spec.Approval = ambit.Human }, ambit.Define(spec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		return ambit.Empty{}, change(ctx, w, ambit.NewContract[echoInput, echoOutput](w.spec))
	}))
	outer := ambit.Request{Name: "outer", Input: []byte(`{}`)}
	for _, step := range []string{"the outer call", "the inner call"} {
		text, _ := w.call(writer, ambit.HTTP, outer)
		is(t, step, `"approval_pending"`, text)
		w.mustDecide(t, carol, approval.Approve, "")
	}
	text, _ := w.call(writer, ambit.HTTP, outer)
	is(t, "both approved", `{}`, text)
	text, _ = w.call(writer, ambit.HTTP, outer)
	is(t, "repeated", `{} replayed`, text)
	if w.runs.Load() != 1 {
		t.Errorf("want one run of the inner call, got %d", w.runs.Load())
	}
}

// Whoever led to a call stands behind the principal in whose name it is made.
func TestT13_DelegationHidesNobody(t *testing.T) {
	t.Parallel()
	w := newNesting(ambit.FourEyes, func(ctx context.Context, w *world, c *ambit.Contract[echoInput, echoOutput]) error {
		ctx, run := w.Delegate(ctx, ambit.RunOptions{Principal: service})
		defer run.End()
		return change(ctx, w, c)
	})
	outer := ambit.Request{Name: "outer", Input: []byte(`{}`)}
	text, _ := w.call(writer, ambit.HTTP, outer)
	is(t, "asked", `"approval_pending"`, text)
	if err := w.decide(t, writer, approval.Approve, ""); ambit.CodeOf(err) != ambit.CodeForbidden {
		t.Errorf("by whoever led to it: want forbidden, got %v", err)
	}
	w.mustDecide(t, carol, approval.Approve, "")
}
