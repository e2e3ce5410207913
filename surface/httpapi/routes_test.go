package httpapi

import (
	"net/url"
	"testing"
)

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
