package trust

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

const (
	// maxForwarded is the most bytes of Forwarded that are read, which has to be
	// read from its beginning, and maxProxies how many proxies in a row are.
	maxForwarded = 8 << 10
	maxProxies   = 16
)

// The headers in which a proxy may say whose request it passes on.
const (
	headerForwarded    = "Forwarded" // RFC 7239
	headerForwardedFor = "X-Forwarded-For"
)

// proxies are those whose connections may say for whom they speak.
type proxies struct {
	networks []netip.Prefix
	header   string // in which they say so, in canonical form
	// certificates: they say in Client-Cert which one the sender has shown.
	certificates bool
}

func newProxies(list []string, header string, certificates bool) (proxies, error) {
	all := proxies{header: http.CanonicalHeaderKey(header), certificates: certificates}
	switch {
	case certificates && len(list) == 0:
		return proxies{}, errors.New("trust: Options.ProxyCertificates is set and Options.Proxies is empty: no other connection is believed, so list the proxies' addresses")
	case header == "" && len(list) > 0:
		return proxies{}, fmt.Errorf("trust: Options.Proxies is given and Options.ProxyHeader is not: name the header in which these proxies say whose request it is, %q or %q", headerForwardedFor, headerForwarded)
	case header == "":
		return all, nil
	case all.header != headerForwarded && all.header != headerForwardedFor:
		return proxies{}, fmt.Errorf("trust: Options.ProxyHeader is %q: give %q or %q", header, headerForwardedFor, headerForwarded)
	case len(list) == 0:
		return proxies{}, errors.New("trust: Options.ProxyHeader is given and Options.Proxies is not: no other connection is believed, so list the proxies' addresses")
	}
	for _, entry := range list {
		prefix, err := netip.ParsePrefix(entry)
		if address, single := netip.ParseAddr(entry); single == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || prefix.Addr().Is4In6():
			return proxies{}, fmt.Errorf("trust: Options.Proxies holds %q: give an address or a network, as in \"10.0.0.7\" or \"10.0.0.0/24\"", entry)
		case prefix.Bits() == 0:
			return proxies{}, fmt.Errorf("trust: Options.Proxies holds %q, so that every sender could say that it is somebody else: name the proxies' own network", entry)
		}
		all.networks = append(all.networks, prefix.Masked())
	}
	return all, nil
}

func (p proxies) has(address netip.Addr) bool {
	for _, prefix := range p.networks {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// connectionOf returns the address that a request's connection came from. It is
// the zero Addr where that is no IP address, as over a Unix socket.
func connectionOf(r *http.Request) netip.Addr {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return remote.Addr().Unmap().WithZone("")
}

// client returns the address of who sent a request: that of the connection, or,
// where a proxy has it, the last one that no proxy has of those that the proxies
// name. What does not hold together names nobody.
func (p proxies) client(r *http.Request) netip.Addr {
	connection := connectionOf(r)
	lines := r.Header[p.header]
	if len(lines) == 0 || !p.has(connection) {
		return connection
	}
	cut := cutItem
	if p.header == headerForwarded {
		cut = cutElement
	}
	rest := strings.Join(lines, ",")
	var origin netip.Addr
	for range maxProxies {
		var node string
		var ok bool
		if rest, node, ok = cut(rest); !ok {
			return connection
		}
		if origin, ok = parseNode(node); !ok {
			return connection
		}
		if !p.has(origin) || rest == "" {
			return origin
		}
	}
	return connection
}

// cutItem takes the last item off a value of X-Forwarded-For.
func cutItem(value string) (before, last string, ok bool) {
	i := strings.LastIndexByte(value, ',')
	return value[:max(i, 0)], strings.Trim(value[i+1:], " \t"), true
}

// cutElement takes the last element off a value of Forwarded (RFC 7239, section
// 4) and returns its "for".
func cutElement(value string) (before, node string, ok bool) {
	if len(value) > maxForwarded {
		return "", "", false
	}
	start := 0 // of the last element
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case ',':
			start = i + 1
		case '"':
			if i = endOfQuoted(value, i); i < 0 {
				return "", "", false
			}
		}
	}
	before = value[:max(start-1, 0)]
	rest, found := value[start:], false
	for more := true; more; {
		var pair string
		if pair, rest, more, ok = cutPair(rest); !ok {
			return "", "", false
		}
		name, text, has := strings.Cut(pair, "=")
		if !strings.EqualFold(strings.Trim(name, " \t"), "for") {
			continue
		}
		if found || !has {
			return "", "", false
		}
		found = true
		if node = strings.TrimRight(text, " \t"); strings.HasPrefix(node, `"`) {
			// What would have to be escaped is in no address.
			if len(node) < 2 || node[len(node)-1] != '"' || strings.Contains(node, `\`) {
				return "", "", false
			}
			node = node[1 : len(node)-1]
		}
	}
	return before, node, found
}

// cutPair takes the first pair off an element. More says that there was a
// semicolon behind it.
func cutPair(element string) (pair, rest string, more, ok bool) {
	for i := 0; i < len(element); i++ {
		switch element[i] {
		case ';':
			return element[:i], element[i+1:], true, true
		case '"':
			if i = endOfQuoted(element, i); i < 0 {
				return "", "", false, false
			}
		}
	}
	return element, "", false, true
}

// endOfQuoted returns where the quoted string ends that begins at an index, or -1
// (RFC 9110, section 5.6.4).
func endOfQuoted(text string, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// parseNode reads an address with or without a port (RFC 7239, section 6). Names
// that hide an address, such as "unknown" and "_gazonk", are none.
func parseNode(node string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(node)
	if err != nil {
		if inner, bracketed := strings.CutPrefix(node, "["); bracketed && strings.HasSuffix(inner, "]") {
			address, err = netip.ParseAddr(inner[:len(inner)-1])
		} else {
			var withPort netip.AddrPort
			withPort, err = netip.ParseAddrPort(node)
			address = withPort.Addr()
		}
	}
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	return address.Unmap(), true
}

// viaProxy is the key of the mark of requests that came from a proxy: whether it is
// believed about certificates.
type viaProxy struct{}

// mark tells [ClientCertificate] that a request came from a proxy, where that could
// make a difference.
func (p proxies) mark(r *http.Request) *http.Request {
	if len(p.networks) == 0 || len(r.Header["Client-Cert"]) == 0 && (r.TLS == nil || len(r.TLS.PeerCertificates) == 0) || !p.has(connectionOf(r)) {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), viaProxy{}, p.certificates))
}
