package trust

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// hosts is the set of names that the Host header may have, in lower case and
// without brackets.
type hosts map[string]bool

func newHosts(o Options, public *url.URL) (hosts, error) {
	names := o.Hosts
	if len(names) == 0 {
		names = []string{"localhost", "127.0.0.1", "[::1]"}
	}
	allowed := make(hosts, len(names)+1)
	for _, name := range names {
		host, ok := normalHost(name)
		if !ok {
			return nil, fmt.Errorf("trust: Options.Hosts holds %q: give a host name or an address, without scheme, port and path", name)
		}
		allowed[host] = true
	}
	if public != nil {
		allowed[strings.ToLower(public.Hostname())] = true
	}
	return allowed, nil
}

// allow judges the value of a Host header (RFC 9110, section 7.2).
func (h hosts) allow(hostport string) bool { return h[hostOf(hostport)] }

// hostOf takes the port and the brackets off, and gives "" for what is no host
// and port.
func hostOf(hostport string) string {
	host, port := hostport, ""
	if inner, ok := strings.CutPrefix(hostport, "["); ok {
		if host, port, ok = strings.Cut(inner, "]"); !ok || !strings.Contains(host, ":") {
			return ""
		}
	} else if i := strings.IndexByte(hostport, ':'); i >= 0 {
		host, port = hostport[:i], hostport[i:]
	}
	if port != "" && (port[0] != ':' || !digits(port[1:])) {
		return ""
	}
	return strings.ToLower(host)
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// normalHost checks an entry of the allow list.
func normalHost(name string) (string, bool) {
	bare := strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if address, err := netip.ParseAddr(bare); err == nil {
		return strings.ToLower(bare), address.Zone() == ""
	}
	for i := range len(name) {
		c := name[i] | 0x20 // letters in lower case
		if !('a' <= c && c <= 'z' || '0' <= name[i] && name[i] <= '9' || name[i] == '-' || name[i] == '.' || name[i] == '_') {
			return "", false
		}
	}
	return strings.ToLower(name), name != ""
}
