package ambit

// maxTrace is the most bytes that either half of a [Trace] may have. The
// recommendation asks for 512 bytes of tracestate at least (section 3.3.1.5).
const maxTrace = 512

// Trace is the trace context that a request carries, in the text form of W3C
// Trace Context. It is the caller's word: nothing here reads it, and an observer
// that does must not believe it of everyone. The zero value says nothing.
type Trace struct {
	// Parent is the traceparent: the ids of trace and span, and the flags
	// (section 3.2). Empty: the request carries no trace context.
	Parent string
	// State is the tracestate: what vendors add (section 3.3). Empty: nothing.
	State string
}

// bounded returns the trace without the half that is too long to be taken. A
// state says nothing without its parent.
func (t Trace) bounded() Trace {
	switch {
	case len(t.Parent) > maxTrace:
		return Trace{}
	case len(t.State) > maxTrace:
		t.State = ""
	}
	return t
}
