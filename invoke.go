package ambit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// invoke is the only path to a handler. It surrounds the steps of a call with
// what must happen whatever the steps do: events, an end, and no panic.
func (a *App) invoke(ctx context.Context, run *Run, parent *Call, in invocation) (result Result, failure *Error) {
	in.began = time.Now()
	call := &Call{
		run: run, entry: in.entry, id: a.nextID(), parent: parent, surface: run.surface,
		reason: oneLine(in.Reason), input: len(in.Input), progress: in.Progress,
	}
	if parent != nil {
		call.depth = parent.depth + 1
	} else {
		call.away.Store(1)
	}
	if call.nested() {
		call.surface = InProcess
	}
	call.ctx.call = call
	var event Event
	told := len(a.observers) > 0 || a.recorder != nil
	if told {
		event = call.event(in.began)
		event.Trace = in.Trace.bounded()
		ctx = a.start(ctx, event)
	}
	call.ctx.parent = ctx
	a.active.add(call)
	failure = errExited // unless the steps return
	defer func() {
		a.active.remove(call)
		call.end()
		if failure != nil {
			failure = a.completeFailure(call, failure)
		}
		if parent != nil && call.ran && !call.once.repeatable() && call.Effect() > Read &&
			(failure == nil || failure.Executed != ExecutedNo) {
			parent.marks.Or(didMore)
		}
		if told {
			call.complete(&event, failure)
		}
		if call.once != nil {
			a.settle(call, &in, &result, failure, event)
		}
		a.finish(ctx, &in, event)
	}()
	return a.contain(call, &in)
}

// errExited is what is recorded of a call whose handler ended its goroutine
// (runtime.Goexit), as tests do that fail in a handler. Nobody gets an answer.
var errExited = &Error{Code: CodeInternal, cause: errorText("the handler ended its goroutine")}

// contain runs the steps and turns a panic of anything that they call into an
// error.
func (a *App) contain(call *Call, in *invocation) (result Result, failure *Error) {
	defer func() {
		if v := recover(); v != nil {
			result = Result{}
			failure = &Error{Code: CodeInternal, cause: a.panicked(call.ctx.parent, call.Capability(), v)}
		}
	}()
	if failure := a.prepare(call, in); failure != nil {
		return Result{}, failure
	}
	if call.replayed() {
		return a.replay(call, in)
	}
	return a.execute(call, in)
}

// prepare is everything before the handler: nothing in it has an effect.
func (a *App) prepare(call *Call, in *invocation) *Error {
	e := in.entry
	// 1 to 3. Is there anything to do, and may this caller have it, that often?
	if failure := a.admitCall(call, in, in.began, time.Time{}); failure != nil {
		return failure
	}
	if failure := call.nesting(); failure != nil {
		return failure
	}
	// 4. The implementation, and the input.
	if failure := a.loaded(call, e); failure != nil {
		return failure
	}
	if failure := a.input(call, in); failure != nil {
		return failure
	}
	// 5. The application's rule over the checked values.
	if failure := a.authorizeInput(call, in.frame); failure != nil {
		return failure
	}
	// 6. Has the call been made already? Then there is nothing to ask about.
	if failure := a.lookUp(call, in); failure != nil || call.replayed() {
		return failure
	}
	// 7. Gate. No slot, no transaction and no key is held while it waits.
	switch again, failure := a.gate(call, in); {
	case failure != nil:
		return failure
	case again && !call.replayed():
		// 8. Everything may have changed in the meantime.
		return a.recheck(call, in)
	}
	return nil
}

// admitCall is steps 1 to 3. After a wait that ended at since, the principal is
// resolved again and the call does not count against rates again.
func (a *App) admitCall(call *Call, in *invocation, now, since time.Time) *Error {
	run, e, ctx := call.run, in.entry, call.ctx.parent
	if run.err != nil {
		return run.err
	}
	ended := run.ctx.Err()
	if ended == nil && ctx != &run.ctx {
		ended = ctx.Err()
	}
	if ended != nil {
		return contextError(ended)
	}
	if failure := a.fresh(ctx, run, now, since); failure != nil {
		return failure
	}
	refused := refusal{code: CodeNotFound}
	if e != nil {
		refused = a.admit(ctx, run, e, call.nested(), nil)
	}
	call.judged, call.hidden = true, refused.code == CodeNotFound // what is not for this caller does not exist
	if !refused.refused() {
		if failure := a.halted(call); failure != nil {
			return failure
		}
	}
	if since.IsZero() {
		if failure := a.takeRate(call, now); failure != nil {
			return failure
		}
	}
	switch {
	case call.hidden:
		return a.suggest(ctx, run, in.asked(), unknown(in.asked()))
	case refused.refused():
		if refused.lacks && refused.code == CodeForbidden {
			call.marks.Or(lacking)
		}
		return a.refuse(e, in.asked(), refused)
	}
	return nil
}

// recheck is step 8: after a wait the principal is resolved afresh and
// everything that could have changed is asked again.
func (a *App) recheck(call *Call, in *invocation) *Error {
	now := time.Now()
	if failure := a.admitCall(call, in, now, now); failure != nil {
		return failure
	}
	if failure := a.authorizeInput(call, in.frame); failure != nil {
		return failure
	}
	if call.run.modeFor(in.Mode).decide(in.entry.contract.spec.Effect) == DecisionBlock {
		return blockedInPlan()
	}
	return nil
}

// nested reports whether a handler makes the call in the run that it was called
// in, for which exposure does not matter.
func (c *Call) nested() bool { return c.parent != nil && c.parent.run == c.run }

// nesting checks a call that a handler makes against the call that it is part
// of, whose declared effect is the most that may happen.
func (c *Call) nesting() *Error {
	switch {
	case c.parent == nil:
		return nil
	case c.depth >= MaxCallDepth:
		return &Error{
			Code: CodeBudgetExhausted, Message: fmt.Sprintf("Calls within calls may go %d deep.", MaxCallDepth),
			cause: fmt.Errorf("%s called by %s at depth %d", c.Capability(), c.parent.Capability(), c.depth),
		}
	case !c.parent.ran && c.Effect() > Read:
		return &Error{Code: CodeInternal, cause: fmt.Errorf("the rule over the input or the preview of %s called %s, which is %s: neither may do more than read",
			c.parent.Capability(), c.Capability(), c.Effect())}
	case c.Effect() > c.parent.Effect():
		return &Error{Code: CodeInternal, cause: fmt.Errorf("%s declares %s and called %s, which is %s: the outer one must declare at least the inner effect",
			c.parent.Capability(), c.parent.Effect(), c.Capability(), c.Effect())}
	}
	return nil
}

func (a *App) authorizeInput(call *Call, f frame) *Error {
	if !f.authorizes() {
		return nil
	}
	ctx := &callContext{call: call}
	ctx.parent = call.ctx.parent
	defer ctx.close()
	if err := f.authorize(ctx); err != nil {
		return a.handlerError(call, err)
	}
	return nil
}

// execute runs middleware and handler on the input that was checked, then
// checks and encodes what they gave.
func (a *App) execute(call *Call, in *invocation) (Result, *Error) {
	e, f := in.entry, in.frame
	// 9. Nothing has ended the call; it has a slot, it counts, its deadline
	// starts, and what must happen once has not happened.
	if call.ctx.Err() != nil {
		if failure := a.halted(call); failure != nil {
			return Result{}, failure
		}
		return Result{}, contextError(call.ctx.Err())
	}
	now := time.Now()
	if failure := a.takeSlot(call, now); failure != nil {
		return Result{}, failure
	}
	defer a.leaveSlot(call)
	if failure := call.run.budget.call(now); failure != nil {
		return Result{}, failure
	}
	call.ctx.start(now.Add(e.deadline))
	if call.once != nil {
		switch failure := a.claim(call, in); {
		case failure != nil:
			return Result{}, failure
		case call.replayed():
			return a.replay(call, in)
		}
	}
	call.ran = true
	// 10. Middleware and handler.
	middleware := e.implementation.Load().middleware
	if len(middleware) == 0 {
		if err := a.handle(&call.ctx, call, f); err != nil {
			return Result{}, a.handlerError(call, err)
		}
	} else if err := a.throughMiddleware(call, middleware, f); err != nil {
		return Result{}, a.handlerError(call, err)
	}
	// 11. Output.
	result := Result{Capability: e.public}
	if !in.typed {
		return a.encode(call, in, result)
	}
	if faults := f.checkOutput(e.contract.out); len(faults) > 0 {
		return Result{}, a.invalidOutput(call, faults)
	}
	e.kept()
	return result, nil
}

// handle calls the handler, and lets the outcome join its transaction where that
// is on the ledger's database.
func (a *App) handle(ctx context.Context, call *Call, f frame) error {
	if err := f.handle(ctx); err != nil {
		return err
	}
	if o := call.once; o != nil && o.claimed && a.joins(ctx) {
		return a.join(ctx, call, f)
	}
	return nil
}

func (a *App) throughMiddleware(call *Call, middleware []Middleware, f frame) error {
	output, err := chain(&call.ctx, call, &passage{}, middleware, entered, func(ctx context.Context) (any, error) {
		if err := a.handle(ctx, call, f); err != nil {
			e, _ := errors.AsType[*Error](err)
			call.refusal.Store(e)
			return nil, err
		}
		return f.output(), nil
	})
	if err != nil {
		return err
	}
	if !f.replace(output) {
		return &Error{Code: CodeInvalidOutput, cause: fmt.Errorf("middleware of %s returned %T", call.Capability(), output)}
	}
	return nil
}

// encode checks and encodes the output, within the size that a result may have.
func (a *App) encode(call *Call, in *invocation, result Result) (Result, *Error) {
	e, f := in.entry, in.frame
	buffer, faults := f.appendOutput(e.contract.out, in.Into)
	if len(faults) > 0 {
		return Result{}, a.invalidOutput(call, faults)
	}
	e.kept()
	result.Buffer, result.Output = buffer, buffer[len(in.Into):]
	if in.WantText {
		result.Text, result.HasText = f.text()
		result.Content = f.content()
	}
	return a.measure(call, in, result)
}

// measure checks the content of a result and the size of all of it.
func (a *App) measure(call *Call, in *invocation, result Result) (Result, *Error) {
	e, size := in.entry, len(result.Output)
	size += len(result.Text)
	if out := result.Output; in.WantText && !result.HasText && out[0] == '"' { // a string is its own text
		result.Text, result.HasText = string(strictjson.Unquote(out[1:len(out)-1])), true
	}
	for i, c := range result.Content {
		if fault := c.fault(); fault != "" {
			return Result{}, &Error{Code: CodeInvalidOutput, cause: fmt.Errorf("content %d of %s: %s", i, call.Capability(), fault)}
		}
		size += c.size()
	}
	call.output = size
	if size > e.maxResult {
		return Result{}, &Error{
			Code: CodeResultTooLarge, Message: fmt.Sprintf("The result has %d bytes; at most %d are given.", size, e.maxResult),
			Hint: narrower(e.contract.in), Executed: call.executed(ExecutedYes),
		}
	}
	return result, nil
}
