package ambit

import (
	"fmt"

	"github.com/ambit-dev/ambit/schema"
)

var emptyInput = []byte("{}")

// input decodes, fills in defaults and checks.
func (a *App) input(call *Call, in *invocation) *Error {
	e := in.entry
	binding := e.implementation.Load().binding
	data := in.Input
	var faults []Fault
	if in.typed {
		if !in.frame.bind(binding) {
			return &Error{Code: CodeInternal, cause: fmt.Errorf("%s was called through a contract of other types than the registered one", e.dotted())}
		}
		faults = in.frame.complete(e.contract.in)
	} else {
		if len(data) == 0 {
			data = emptyInput
		}
		if len(data) > e.maxInput {
			return &Error{
				Code: CodeInputTooLarge, Message: fmt.Sprintf("The input has %d bytes; at most %d are taken.", len(data), e.maxInput),
				Hint: "Send less in one call.",
			}
		}
		in.frame = binding.newFrame()
		faults = in.frame.decode(e.contract.in, data, a.options.MaxDepth)
		if len(faults) > 0 && a.options.Repair.Has(call.surface) && call.surface != InProcess {
			data, faults = a.repair(call, in, data, faults)
		}
	}
	if len(faults) == 0 && a.needsDigest(in) {
		var failure *Error
		if faults, failure = a.canonical(call, in, data); failure != nil {
			return failure
		}
	}
	if len(faults) == 0 {
		faults = crossFaults(in.frame.rules(call.ctx.parent))
	}
	if len(faults) > 0 {
		return invalidInput(faults)
	}
	in.checked = true
	return nil
}

func invalidInput(faults []Fault) *Error {
	first := faults[0]
	return &Error{
		Code: CodeInvalidInput, Message: faultsMessage(faults), Field: first.Pointer, Allowed: first.Allowed, Faults: faults,
	}
}

// repair tries the input again with strings for numbers and booleans mended.
// What comes of it is the call's input from here on: what a person is asked
// about and what is recorded. If it is still invalid, the faults are those of
// the input as it came.
func (a *App) repair(call *Call, in *invocation, data []byte, faults []Fault) ([]byte, []Fault) {
	repaired, pointers := in.entry.contract.in.Repair(data, faults)
	if len(pointers) == 0 {
		return data, faults
	}
	frame := in.entry.implementation.Load().binding.newFrame()
	if len(frame.decode(in.entry.contract.in, repaired, a.options.MaxDepth)) > 0 {
		return data, faults
	}
	in.frame, in.Input, call.repaired = frame, repaired, int32(len(pointers))
	return repaired, nil
}

// crossFaults bounds what an input type's own rules say, and completes it.
func crossFaults(faults []Fault) []Fault {
	faults = faults[:min(len(faults), schema.MaxFaults)]
	for i := range faults {
		faults[i].Message, faults[i].Pointer = cut(faults[i].Message, maxMessage), fromRoot(faults[i].Pointer)
		if faults[i].Rule == "" {
			faults[i].Rule = "application"
		}
	}
	return faults
}
