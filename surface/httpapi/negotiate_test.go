package httpapi

import (
	"net/url"
	"testing"
)

func TestAcceptsJSON(t *testing.T) {
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
		if got := acceptsJSON(tt.accept); got != tt.want {
			t.Errorf("acceptsJSON(%q): want %v, got %v", tt.accept, tt.want, got)
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
		if got := isJSON(tt.contentType); got != tt.want {
			t.Errorf("isJSON(%q): want %v, got %v", tt.contentType, tt.want, got)
		}
	}
}

// FuzzAcceptsJSON: a further range that has nothing to do with JSON opens
// nothing, and one that asks for JSON outright is heard.
func FuzzAcceptsJSON(f *testing.F) {
	for _, seed := range []string{"*/*", "application/json;q=0", "text/html, application/*;q=0.1", ";;,=,q", "application/json;q=1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if acceptsJSON([]string{accept, "text/x-nothing"}) && !acceptsJSON([]string{accept}) {
			t.Errorf("Accept %q: accepted beside text/x-nothing, but not alone", accept)
		}
		if !acceptsJSON([]string{accept, "application/json"}) {
			t.Errorf("Accept %q and application/json: want accepted", accept)
		}
	})
}

// FuzzPath: a path that has the form of a capability's needs no escapes, and
// cleaning changes nothing about it.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"notes/search", "v1.0/Own-Path", "a//b", "a/../b", "", "/", ".", "a/", "%2e", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !validPath(path) {
			return
		}
		if got := (&url.URL{Path: "/" + path}).EscapedPath(); got != "/"+path {
			t.Errorf("%q has a capability's form, and %q as its escaped form", path, got)
		}
		if got := (&url.URL{Path: "/"}).JoinPath(path).Path; got != "/"+path {
			t.Errorf("%q has a capability's form, and cleaned it is %q", path, got)
		}
	})
}
