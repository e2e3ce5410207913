package ambit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// kept is the outcome of a call as a ledger keeps it, sealed.
type kept struct {
	Output  json.RawMessage `json:"output,omitempty"`
	Text    *string         `json:"text,omitempty"` // nil: none of its own
	Content []Content       `json:"content,omitempty"`
	Failure *wireError      `json:"failure,omitempty"`
}

// smallOutcome is how many bytes an outcome has that no receipt is worth while
// beside.
const smallOutcome = 512

// keep puts into an ending what there is to repeat of a call that has ended.
func (a *App) keep(call *Call, f frame, result *Result, withForms bool, failure *Error, ending *Ending) {
	if call.entry.contract.spec.Replay == ReplayOutcome {
		ending.Outcome = a.sealOutcome(call, f, result, withForms, failure)
	}
	switch n := len(ending.Outcome); {
	case n == 0:
		ending.Outcome = a.sealed(call, kept{Failure: call.receipt(failure).wire()})
	case n > smallOutcome:
		ending.Receipt = a.sealed(call, kept{Failure: call.receipt(failure).wire()})
	}
}

// sealOutcome returns the outcome of a call as it is kept. The forms for models are
// kept too, whether this caller wanted them or not: the next one may, and what they
// are made of is not all in the output's JSON. The result has them where it has been
// made, and withForms was asked for.
func (a *App) sealOutcome(call *Call, f frame, result *Result, withForms bool, failure *Error) []byte {
	var k kept
	if failure != nil {
		k.Failure = failure.wire()
		return a.sealed(call, k)
	}
	k.Output = result.Output
	if k.Output == nil {
		k.Output, _ = f.appendOutput(call.entry.contract.out, nil) // it was checked
	}
	text, has := result.Text, result.HasText
	k.Content = result.Content
	if !withForms {
		text, has = f.text()
		k.Content = f.content()
	}
	if has {
		k.Text = &text
	}
	return a.sealed(call, k)
}

func (a *App) sealed(call *Call, k kept) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the output is repeated to the byte
	if err := encoder.Encode(k); err != nil {
		return nil
	}
	return a.seals.outcomes.Seal(nil, text.Bytes(), call.once.bound())
}

// bound ties a sealed outcome to its operation, so that it opens for no other
// call. The record of a key and that of an approval share one.
func (o *once) bound() []byte { return o.operation[:] }

// open returns the outcome in a record, if it was kept and is for this call.
func (a *App) open(call *Call) (k kept, ok bool) {
	text, err := a.seals.outcomes.Open(nil, call.once.record.Outcome, call.once.bound())
	if err != nil {
		return kept{}, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // details keep their digits
	err = decoder.Decode(&k)
	return k, err == nil
}

// named is how the earlier call is told from others.
func (o *once) named() string {
	if o.key == "" {
		return "This very call"
	}
	return "The call with this idempotency key"
}

// replay answers a call with the outcome of the earlier one. It passes step 11
// again: schema and size are those of now.
func (a *App) replay(call *Call, in *invocation) (Result, *Error) {
	e := in.entry
	call.once.told = true
	k, ok := a.open(call)
	switch {
	case !ok:
		failure := call.unkept()
		failure.replayed = failure.Receipt != nil
		return Result{}, failure
	case k.Failure != nil:
		failure := k.Failure.error()
		failure.replayed = true
		return Result{}, failure
	case in.typed:
		if faults := in.frame.restore(e.contract.out, k.Output); len(faults) > 0 {
			return Result{}, a.unreadable(call, faults)
		}
		return Result{Capability: e.public, Replayed: true}, nil
	}
	if faults := e.contract.out.Check(k.Output, 0); len(faults) > 0 {
		return Result{}, a.unreadable(call, faults)
	}
	result := Result{Capability: e.public, Buffer: append(in.Into, k.Output...), Replayed: true}
	result.Output = result.Buffer[len(in.Into):]
	if in.WantText {
		result.Content = k.Content
		if k.Text != nil {
			result.Text, result.HasText = *k.Text, true
		}
	}
	return a.measure(call, in, result)
}

// unreadable refuses an output that passed the check when it was made and does
// not when it is read: its type's two methods disagree about the JSON form.
func (a *App) unreadable(call *Call, faults []Fault) *Error {
	return &Error{
		Code: CodeInvalidOutput, Executed: call.executed(ExecutedYes),
		cause: errors.Join(fmt.Errorf("a recorded output of %s cannot be repeated: %s %s", call.Capability(), faults[0].Pointer, faults[0].Message)),
	}
}
