package trust

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

const (
	// maxForwarded is the most bytes that are read of what proxies say, and
	// maxProxies of how many in a row.
	maxForwarded = 8 << 10
	maxProxies   = 16
)

// proxies are the networks whose connections may say for whom they speak.
type proxies []netip.Prefix

func newProxies(list []string) (proxies, error) {
	var all proxies
	for _, entry := range list {
		prefix, err := netip.ParsePrefix(entry)
		if address, single := netip.ParseAddr(entry); single == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || prefix.Addr().Is4In6():
			return nil, fmt.Errorf("trust: Options.Proxies holds %q: give an address or a network, as in \"10.0.0.7\" or \"10.0.0.0/24\"", entry)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("trust: Options.Proxies holds %q, so that every sender could say that it is somebody else: name the proxies' own network", entry)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

func (p proxies) has(address netip.Addr) bool {
	for _, prefix := range p {
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
// name. What does not hold together names nobody, and neither do two headers of
// two meanings, one of which a proxy has passed on from the sender.
func (p proxies) client(r *http.Request) netip.Addr {
	connection := connectionOf(r)
	if !p.has(connection) {
		return connection
	}
	forwarded, ok := p.origin(r.Header["Forwarded"], cutElement)
	if !ok {
		return connection
	}
	other, ok := p.origin(r.Header["X-Forwarded-For"], cutItem)
	switch {
	case !ok || forwarded.IsValid() && other.IsValid() && forwarded != other:
		return connection
	case forwarded.IsValid():
		return forwarded
	case other.IsValid():
		return other
	}
	return connection
}

// origin goes back through the addresses that a header names to the first that no
// proxy has, or else to the one where it begins. It is the zero Addr where there
// is no such header; ok is false where the header does not hold together.
func (p proxies) origin(lines []string, cut func(string) (before, last string, ok bool)) (origin netip.Addr, ok bool) {
	bytes := 0
	for _, line := range lines {
		bytes += len(line)
	}
	if bytes > maxForwarded {
		return netip.Addr{}, false
	}
	rest, hops := strings.Join(lines, ","), 0
	for more := len(lines) > 0; more; more = rest != "" {
		var node string
		if rest, node, ok = cut(rest); !ok {
			return netip.Addr{}, false
		}
		if origin, ok = parseNode(node); !ok {
			return netip.Addr{}, false
		}
		if hops++; !p.has(origin) {
			return origin, true
		}
		if hops == maxProxies {
			return netip.Addr{}, false
		}
	}
	return origin, true
}

// cutItem takes the last item off a value of X-Forwarded-For.
func cutItem(value string) (before, last string, ok bool) {
	i := strings.LastIndexByte(value, ',')
	return value[:max(i, 0)], strings.Trim(value[i+1:], " \t"), true
}

// cutElement takes the last element off a value of Forwarded (RFC 7239, section
// 4) and returns its "for".
func cutElement(value string) (before, node string, ok bool) {
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

// viaProxy is the key of the mark of requests that came from a proxy.
type viaProxy struct{}

// mark makes [ClientCertificate] believe the proxy of a request, where that could
// make a difference.
func (p proxies) mark(r *http.Request) *http.Request {
	if len(p) == 0 || len(r.Header["Client-Cert"]) == 0 && (r.TLS == nil || len(r.TLS.PeerCertificates) == 0) || !p.has(connectionOf(r)) {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), viaProxy{}, true))
}
