package trust

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzHostOf compares the reading of a Host header with the standard library's,
// which knows addresses but no names.
func FuzzHostOf(f *testing.F) {
	for _, seed := range []string{"localhost:8080", "127.0.0.1:80", "[::1]:8080", "[::1]", "a:b:c", "[", "]", ":", "", "[::1]x", "EXAMPLE:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hostport string) {
		got := hostOf(hostport)
		if strings.ContainsAny(got, "[]") && !strings.ContainsAny(hostport, "[]") {
			t.Errorf("hostOf(%q) made up %q", hostport, got)
		}
		if want, err := netip.ParseAddrPort(hostport); err == nil && want.Addr().Is4() && got != want.Addr().String() {
			t.Errorf("hostOf(%q): want %s, got %q", hostport, want.Addr(), got)
		}
		if got == "localhost" && !strings.EqualFold(hostport[:len("localhost")], "localhost") {
			t.Errorf("hostOf(%q) is localhost", hostport)
		}
	})
}
