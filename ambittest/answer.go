package ambittest

import (
	"encoding/json"
	"net/http"

	"github.com/ambit-dev/ambit"
)

// Answer is what came of one call.
type Answer struct {
	// Output is the output's JSON text; nil where the call failed. Over MCP it
	// is the structured content or, where there is none, the text: as a JSON
	// string if the capability's output is a string or the text is no JSON, else
	// as it is.
	Output json.RawMessage
	// Err is why the call failed; nil where it did not.
	Err *ambit.Error
	// Progress is what the handler said of its progress, as far as it reached
	// the caller; the HTTP surface carries none.
	Progress []ambit.Progress
	// Status, Header and Body are the HTTP answer; zero in-process.
	Status int
	// Header is the HTTP answer's header.
	Header http.Header
	// Body is the HTTP answer's whole body.
	Body []byte

	t      T
	call   string
	lacked string // what a failure says of the permission that the caller lacked
}

// OK returns the output's JSON text, and ends the test where the call failed.
func (a *Answer) OK() string {
	a.t.Helper()
	if a.Err != nil {
		a.t.Fatalf("%s: want success, got %s", a.call, inFull(a.Err)+a.lacked)
	}
	return string(a.Output)
}

// Refused returns the error, and ends the test where the call did not fail with
// that code.
func (a *Answer) Refused(want ambit.Code) *ambit.Error {
	a.t.Helper()
	switch {
	case a.Err == nil:
		a.t.Fatalf("%s: want %s, got success:\n%s", a.call, want, a.Output)
	case a.Err.Code != want:
		a.t.Fatalf("%s: want %s, got %s", a.call, want, inFull(a.Err)+a.lacked)
	}
	return a.Err
}

// inFull is the code of an error and all that the error says.
func inFull(e *ambit.Error) string {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return e.Error()
	}
	return string(e.Code) + ":\n" + string(text)
}
