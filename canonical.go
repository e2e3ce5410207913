package ambit

import "fmt"

// MaxDestructiveInput is how many bytes the canonical form of a destructive
// call's input may have. A person has to be able to read all of it.
const MaxDestructiveInput = 64 << 10

// needsDigest reports whether the input has to be the same, to the byte, as what
// something else was about: a record, or what a person has said yes to.
func (a *App) needsDigest(in *invocation) bool {
	effect := in.entry.contract.spec.Effect
	return effect == Destructive || a.options.Ledger != nil && (in.keyed() || a.records(effect))
}

// bind makes sure that the input is in canonical form, and the call bound to it,
// before somebody is asked about it.
func (a *App) bind(call *Call, in *invocation) *Error {
	if in.text != nil {
		return nil
	}
	faults, failure := a.canonical(call, in, in.frame.canonical(in.entry.contract.in))
	if failure != nil {
		return failure
	}
	if len(faults) == 0 {
		faults = crossFaults(in.frame.rules(call.ctx.parent))
	}
	if len(faults) > 0 {
		return invalidInput(faults)
	}
	return nil
}

// canonical makes the canonical form of a valid input the input: what rules,
// people and the handler get to see is decoded from the bytes that the digest is
// of, so that nothing can be in one and not in the other.
func (a *App) canonical(call *Call, in *invocation, data []byte) ([]Fault, *Error) {
	e := in.entry
	if in.typed {
		data = in.frame.canonical(e.contract.in)
	}
	text, faults := e.contract.in.AppendCanonical(nil, data, a.options.MaxDepth)
	if len(faults) > 0 {
		return faults, nil
	}
	if e.contract.spec.Effect == Destructive && len(text) > MaxDestructiveInput {
		return nil, &Error{
			Code: CodeInputTooLarge, Message: fmt.Sprintf("The input has %d bytes; at most %d are taken for what cannot be undone.", len(text), MaxDestructiveInput),
			Hint: "Do less in one call.",
		}
	}
	who := call.run.identity.ceiling
	o := &once{claim: Claim{Binding: Binding{
		Tenant: who.Tenant, Principal: call.run.key, Client: who.Client, Agent: call.Agent().URL,
		Capability: e.contract.spec.Name, Contract: e.hash, Input: inputDigest(e.hash, text),
	}}}
	o.operation = o.claim.Binding.Operation()
	call.once, in.text = o, text
	return in.frame.decode(e.contract.in, text, a.options.MaxDepth), nil
}
