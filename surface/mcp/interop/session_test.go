package interop_test

import (
	"encoding/json"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp/interop/internal/fixture"
)

// sessionCalls are the calls that every client makes, in order.
func sessionCalls() []call {
	return []call{
		{Name: "places_find", Arguments: map[string]any{"name": "berg", "limit": 2}},
		{Name: "places_find", Arguments: map[string]any{"name": ""}},
		{Name: "test_error_handling"},
		{Name: "no_such_tool"},
		{Name: "test_tool_with_progress", Progress: true},
	}
}

// expected is what a client sees that came to the given revision: the same in
// every one.
func expected(version string) observation {
	const found = `{"places":[` +
		`{"name":"Bergamo","country":"IT","people":120287},` +
		`{"name":"Bergen","country":"NO","people":291940}],"found":true}`
	var structured any
	if err := json.Unmarshal([]byte(found), &structured); err != nil {
		panic(err)
	}
	return observation{
		Version: version,
		Server:  fixture.Name,
		Tools:   fixture.Tools(),
		Outcomes: []outcome{
			{Text: found, Structured: structured},
			{IsError: true, Error: ambit.CodeInvalidInput},
			{IsError: true, Error: ambit.CodeConflict},
			{Code: -32602},
			{Text: fixture.Finished, Progress: []float64{0, 50, 100}},
		},
	}
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
