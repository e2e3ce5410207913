package negotiate

import "testing"

func TestAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept []string
		want   bool
	}{
		{nil, true},
		{[]string{""}, true},
		{[]string{"*/*"}, true},
		{[]string{"application/json"}, true},
		{[]string{"application/json, text/event-stream"}, true},
		{[]string{"text/event-stream, APPLICATION/JSON"}, true},
		{[]string{"application/json; charset=utf-8"}, true},
		{[]string{"application/*"}, true},
		{[]string{"text/html", "application/json"}, true},
		{[]string{"text/html, */*;q=0.8"}, true},
		{[]string{"text/html"}, false},
		{[]string{"application/json;q=0"}, false},
		{[]string{"application/json; Q=0.000, */*"}, false},
		{[]string{"*/*;q=0, application/json"}, true},
		{[]string{"application/*;q=0, */*"}, false},
		{[]string{"application/json;q=nonsense"}, false},
		{[]string{"application/json;q=2"}, false},
		{[]string{"application/json;q=NaN"}, false},
		{[]string{"application/jsonp"}, false},
		{[]string{"application/vnd.api+json"}, false},
	}
	for _, tt := range tests {
		if got := Accepts(tt.accept, "application/json", true); got != tt.want {
			t.Errorf("Accept %q: want %v, got %v", tt.accept, tt.want, got)
		}
	}
}

func TestIsJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		contentType []string
		want        bool
	}{
		{[]string{"application/json"}, true},
		{[]string{"application/json; charset=utf-8"}, true},
		{[]string{"Application/JSON;charset=\"UTF-8\""}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{"application/json", "application/json"}, false},
		{[]string{"application/json; charset=utf-16"}, false},
		{[]string{"application/json; profile=x"}, false},
		{[]string{"application/json, text/plain"}, false},
		{[]string{"text/json"}, false},
		{[]string{"application/json; charset"}, false},
	}
	for _, tt := range tests {
		if got := IsJSON(tt.contentType); got != tt.want {
			t.Errorf("IsJSON(%q): want %v, got %v", tt.contentType, tt.want, got)
		}
	}
}

// FuzzAccepts: a further range that has nothing to do with JSON opens
// nothing, and one that asks for JSON outright is heard.
func FuzzAccepts(f *testing.F) {
	for _, seed := range []string{"*/*", "application/json;q=0", "text/html, application/*;q=0.1", ";;,=,q", "application/json;q=1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if Accepts([]string{accept, "text/x-nothing"}, "application/json", true) && !Accepts([]string{accept}, "application/json", true) {
			t.Errorf("Accept %q: accepted beside text/x-nothing, but not alone", accept)
		}
		if !Accepts([]string{accept, "application/json"}, "application/json", true) {
			t.Errorf("Accept %q and application/json: want accepted", accept)
		}
	})
}

// A stream is asked for by name or by a range, never by silence.
func TestAcceptsStream(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"application/json, text/event-stream": true, "*/*": true, "text/*": true, "*/*, text/event-stream;q=0": false,
		"application/*": false, "application/json": false, "": false, "text/event-stream;q=high": false,
	} {
		if got := Accepts([]string{accept}, "text/event-stream", false); got != want {
			t.Errorf("Accept %q: want %v, got %v", accept, want, got)
		}
	}
	if Accepts(nil, "text/event-stream", false) {
		t.Error("no Accept: want false")
	}
}
