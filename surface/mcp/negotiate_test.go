package mcp

import "testing"

func TestAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		accept       []string
		json, stream bool
	}{
		{nil, true, false},
		{[]string{"application/json, text/event-stream"}, true, true},
		{[]string{"text/event-stream", "application/json"}, true, true},
		{[]string{"Application/JSON;q=0.5,text/event-stream;q=1"}, true, true},
		{[]string{"*/*"}, true, true},
		{[]string{"application/*"}, true, false},
		{[]string{"application/json"}, true, false},
		{[]string{"text/event-stream"}, false, true},
		{[]string{"*/*, text/event-stream;q=0"}, true, false},
		{[]string{"application/json;q=0, */*"}, false, true},
		{[]string{"application/json;q=high"}, false, false},
		{[]string{"text/html"}, false, false},
		{[]string{""}, true, false},
	} {
		json, stream := accepts(c.accept)
		if json != c.json || stream != c.stream {
			t.Errorf("%q: want JSON %v and a stream %v, got %v and %v", c.accept, c.json, c.stream, json, stream)
		}
	}
}
