package trust

import (
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
)

// Trace returns the trace context of a request's header, as it came: the value
// of traceparent, which counts where it is the only one, and those of tracestate
// as one list (W3C Trace Context, sections 3.2 and 3.3). Whether it is well
// formed, and whether to believe it, is for who reads it.
func Trace(header http.Header) ambit.Trace {
	parent := header["Traceparent"]
	if len(parent) != 1 {
		return ambit.Trace{}
	}
	trace := ambit.Trace{Parent: parent[0]}
	switch states := header["Tracestate"]; len(states) {
	case 0:
	case 1:
		trace.State = states[0]
	default:
		trace.State = strings.Join(states, ",")
	}
	return trace
}
