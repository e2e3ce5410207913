package audit

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
)

// line is what is to be written of one call. It is made on the caller's path,
// where nothing is encoded, and written by the log's own goroutine.
type line struct {
	kind   string
	event  ambit.Event // without what must not outlive the call
	digest []byte      // of the input; empty: there is none
	input  []byte      // the canonical input; empty: it is not recorded
	large  bool        // it would have been, but for its size
	must   bool        // has to be written, and holds one of Log.slots
	fate   *fate       // of what has to be written

	kept   ambit.CallInput // of which digest and input are still to be made
	buffer []byte          // the room that kept is in
}

func (l *Log) newLine(kind string, e *ambit.Event) *line {
	n, _ := l.free.Get().(*line)
	n.kind, n.event = kind, *e
	n.event.Cause = nil
	return n
}

// recycle gives a line back that nobody looks at any more.
func (l *Log) recycle(n *line) {
	*n = line{digest: n.digest[:0], input: n.input[:0], buffer: n.buffer[:0]}
	if cap(n.input)+cap(n.buffer) <= 2*maxRoom {
		l.free.Put(n)
	}
}

// maxRoom is how many bytes of input wait in a line, and how much room for that a
// line may have for the next one.
const maxRoom = 16 << 10

// keep takes an input whose digest is made when the line is written, so that the
// caller does not wait for it. Of a large one it is made at once: what waits must
// not fill the memory.
func (n *line) keep(l *Log, c *chain, input ambit.CallInput) {
	if !input.Valid() {
		return
	}
	if input.Size() <= maxRoom {
		n.buffer = slices.Grow(n.buffer[:0], input.Size())
		if n.kept = input.Keep(n.buffer); n.kept.Size() <= maxRoom {
			return
		}
		input, n.kept = n.kept, ambit.CallInput{}
	}
	n.take(l, c, input.AppendCanonical(nil))
}

// take makes digest and, where it is recorded, copy of an input.
func (n *line) take(l *Log, c *chain, input []byte) {
	if input == nil {
		return
	}
	n.digest = c.digest(n.digest[:0], input)
	switch {
	case !n.event.RecordInput:
	case len(input) > l.options.MaxInput:
		n.large = true
	default:
		n.input = append(n.input[:0], input...)
	}
}

// settle makes of a kept input what is written of it.
func (n *line) settle(l *Log, c *chain) {
	if n.kept.Valid() {
		n.take(l, c, n.kept.AppendCanonical(nil))
		n.kept = ambit.CallInput{}
	}
}

// record returns what the line says.
func (n *line) record() Record {
	e := &n.event
	r := Record{
		Kind: n.kind, Tenant: e.Tenant, Principal: e.Principal, PrincipalKind: e.Kind.String(), DelegatedBy: e.DelegatedBy, Agent: NewAgent(e.Agent),
		Capability: e.Capability, Own: e.Own, Surface: e.Surface.String(), Via: e.Via.String(),
		Run: e.Run.String(), Call: e.Call.String(), Request: e.Request, Trace: traceID(e.Trace), Proposal: e.Proposal, Reason: e.Reason,
		InputOmitted: n.large, Began: e.Began.UTC().Truncate(time.Microsecond),
		Took: e.Took.Microseconds(), Waited: e.Waited.Microseconds(), Code: string(e.Code), Ran: e.Ran, Replayed: e.Replayed, Limit: e.Limit.String(),
		Faults: e.Faults, Repaired: e.Repaired, InputBytes: e.InputBytes, OutputBytes: e.OutputBytes,
	}
	if e.Effect != 0 {
		r.Effect = e.Effect.String()
	}
	if e.Level != 0 {
		r.Level, r.Version = e.Level.String(), e.Version
	}
	if e.Parent != 0 {
		r.Parent = e.Parent.String()
	}
	if e.Key != (ambit.Digest{}) {
		r.Key = hex.EncodeToString(e.Key[:])
	}
	if len(n.digest) > 0 {
		r.Digest = hex.EncodeToString(n.digest)
	}
	if len(n.input) > 0 {
		r.Input = json.RawMessage(n.input)
	}
	return r
}

// traceID returns the id of the trace in a traceparent (W3C Trace Context,
// section 3.2.2.3).
func traceID(t ambit.Trace) string {
	const begin, end = len("00-"), len("00-") + 32
	if len(t.Parent) < end {
		return ""
	}
	if _, err := hex.DecodeString(t.Parent[begin:end]); err != nil {
		return ""
	}
	return t.Parent[begin:end]
}
