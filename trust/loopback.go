package trust

import (
	"net"
	"net/http"
	"net/netip"
)

// Loopback reports whether an address of this machine can be reached from the
// machine alone. It is false for nil and for everything but IP addresses.
func Loopback(address net.Addr) bool {
	switch a := address.(type) {
	case nil:
		return false
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	parsed, err := netip.ParseAddrPort(address.String())
	return err == nil && parsed.Addr().Unmap().IsLoopback()
}

// fromThisMachine reports whether a request came over a connection to a
// loopback address. A request without a connection, as adapters of other
// servers make, may have come from anywhere.
func fromThisMachine(r *http.Request) bool {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return Loopback(address)
}
