package interop_test

import (
	"encoding/json"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp/interop/internal/fixture"
)

// session returns the calls that a client makes, in order, and what it is to
// see: the same in every revision, except for structured content, which the
// oldest does not have and those before the newest have for objects alone.
func session(t *testing.T, c client) (calls []call, want observation) {
	t.Helper()
	const found = `{"places":[` +
		`{"name":"Bergamo","country":"IT","people":120287},` +
		`{"name":"Bergen","country":"NO","people":291940}],"found":true}`
	structured := func(since, text string) (value any) {
		if c.version >= since {
			decode(t, []byte(text), &value)
		}
		return value
	}
	want.Tools = fixture.Tools()
	step := func(make call, see outcome) {
		calls = append(calls, make)
		want.Outcomes = append(want.Outcomes, see)
	}

	step(call{Name: "places_find", Arguments: map[string]any{"name": "berg", "limit": 2}},
		outcome{Text: found, Structured: structured(middle, found)})
	step(call{Name: "places_find", Arguments: map[string]any{"name": ""}},
		outcome{IsError: true, Error: ambit.CodeInvalidInput})
	step(call{Name: "test_error_handling"},
		outcome{IsError: true, Error: ambit.CodeConflict})
	if c.curt {
		return calls, want
	}
	want.Version, want.Server = c.version, fixture.Name
	step(call{Name: "no_such_tool"},
		outcome{Code: -32602})
	step(call{Name: "steps_run", Arguments: map[string]any{"id": t.Name()}, Acknowledge: "steps_seen"},
		outcome{
			Text:       fixture.Finished,
			Structured: structured(modern, `"`+fixture.Finished+`"`),
			Progress:   []float64{0, 50, 100},
		})
	return calls, want
}

// readErrors replaces the text of refusals, which holds an error as JSON, by
// the error's code.
func readErrors(seen *observation) {
	for i := range seen.Outcomes {
		o := &seen.Outcomes[i]
		var refusal struct{ Code ambit.Code }
		if o.IsError && json.Unmarshal([]byte(o.Text), &refusal) == nil {
			o.Text, o.Error = "", refusal.Code
		}
	}
}
