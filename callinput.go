package ambit

import "github.com/ambit-dev/ambit/schema"

// CallInput is the input that a call was made with, for an [InputObserver]. The
// zero CallInput is that of a call whose input was never found valid. It is a
// value; methods are safe for concurrent use.
type CallInput struct {
	schema *schema.Schema
	frame  frame  // has the input of a typed call; nil: text is the input
	text   []byte // secrets included
	final  bool   // text is in canonical form
}

// observed returns the input as observers get it.
func (in *invocation) observed() CallInput {
	switch {
	case !in.checked:
		return CallInput{}
	case in.text != nil:
		return CallInput{schema: in.entry.contract.in, text: in.text, final: true}
	case in.typed:
		return CallInput{schema: in.entry.contract.in, frame: in.frame}
	case len(in.Input) == 0:
		return CallInput{schema: in.entry.contract.in, text: emptyInput}
	}
	return CallInput{schema: in.entry.contract.in, text: in.Input} // and not what the handler has left of the value
}

// Valid reports whether the input was found valid.
func (i CallInput) Valid() bool { return i.schema != nil }

// Size returns how many bytes of JSON the input has; zero for that of a typed
// call, until it is kept.
func (i CallInput) Size() int { return len(i.text) }

// Keep returns an input that can be used when FinishInput has returned, which
// others cannot. It uses buffer, which must not be changed from then on, for the
// JSON where there is room.
func (i CallInput) Keep(buffer []byte) CallInput {
	if i.frame != nil {
		i.text, i.frame = append(buffer[:0], i.frame.canonical(i.schema)...), nil
		return i
	}
	i.text = append(buffer[:0], i.text...)
	return i
}

// AppendCanonical appends the input in canonical form with secret values
// replaced, and nothing where it was never found valid.
func (i CallInput) AppendCanonical(dst []byte) []byte {
	if !i.Valid() {
		return dst
	}
	text := i.text
	if i.frame != nil {
		text = i.frame.canonical(i.schema)
	}
	if !i.final {
		canonical, faults := i.schema.AppendCanonical(make([]byte, 0, len(text)+64), text, 0)
		if len(faults) == 0 { // no number that the form would change
			text = canonical
		}
	}
	return i.schema.Redact(dst, text)
}
