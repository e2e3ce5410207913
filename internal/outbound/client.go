// Package outbound makes the HTTP clients with which a server fetches what a
// request or a document of somebody else may have named: key sets, directories,
// metadata. Such a client cannot be turned against the network that the server
// stands in.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// What a client does unless its [Options] say otherwise.
const (
	DefaultTimeout = 5 * time.Second
	DefaultBytes   = 64 << 10
)

// maxHeaderBytes bounds the header of an answer.
const maxHeaderBytes = 32 << 10

// ErrTooLarge is what reading a body ends with that has more than
// [Options.Bytes].
var ErrTooLarge = errors.New("outbound: the answer is too large")

// Options say where a client may go. The zero value goes to public addresses
// over https on port 443, and nowhere else.
type Options struct {
	// Ports are ports beside 443 that may be reached.
	Ports []int
	// Networks are networks that may be reached although they are not public,
	// as where an issuer of tokens runs in the same private network. Empty:
	// none.
	Networks []netip.Prefix
	// Loopback lets the client reach this machine over any port, and without
	// TLS. It is for development and tests.
	Loopback bool
	// Timeout bounds a request, from the look-up of the name to the last byte of
	// the answer. Zero: 5 s.
	Timeout time.Duration
	// Bytes is how many bytes the body of an answer may have, after decoding.
	// Zero: 64 KiB.
	Bytes int64
	// KeepConnections keeps connections open for later requests to the same
	// host. The owner then calls CloseIdleConnections of the client when it is
	// done. False: each request has a connection of its own, which ends with it.
	KeepConnections bool
	// Roots are the certificates that servers' are checked against. Nil: those
	// of the system.
	Roots *x509.CertPool
}

// New returns a client for requests to addresses that others had a say in. It
// follows no redirect, keeps no cookie, uses no proxy from the environment, and
// judges each address after the name was looked up, when the connection is about
// to be made, so that no name can point elsewhere in between. It is safe for
// concurrent use and starts nothing that outlives a request, but for the idle
// connections of [Options.KeepConnections].
func New(o Options) *http.Client {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	o.Ports, o.Networks = slices.Clone(o.Ports), slices.Clone(o.Networks)
	dialer := &net.Dialer{Timeout: o.Timeout, Control: func(_, address string, _ syscall.RawConn) error { return o.mayReach(address) }}
	return &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("outbound: redirects are not followed") },
		Transport: &transport{options: o, inner: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			DisableKeepAlives:      !o.KeepConnections,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: maxHeaderBytes,
		}},
	}
}

// mayReach judges the address and port of a connection that is about to be made.
func (o *Options) mayReach(hostport string) error {
	at, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return fmt.Errorf("outbound: %q is no address", hostport)
	}
	address := at.Addr().Unmap()
	switch {
	case o.Loopback && address.IsLoopback():
		return nil
	case !Public(address) && !within(o.Networks, address):
		return fmt.Errorf("outbound: %s is not a public address", address)
	case at.Port() != 443 && !slices.Contains(o.Ports, int(at.Port())):
		return fmt.Errorf("outbound: port %d is not one of those that may be reached", at.Port())
	}
	return nil
}

// Check reports what is wrong with a URL that a client with these options is to
// fetch, without looking anything up. It is for checking configuration at the
// start; the client checks each request by itself.
func (o *Options) Check(u *url.URL) error {
	switch {
	case u == nil || u.Host == "" || u.Opaque != "":
		return errors.New("outbound: the URL is not absolute")
	case u.User != nil:
		return errors.New("outbound: the URL holds a user or password")
	case u.Scheme != "https" && !(u.Scheme == "http" && o.Loopback && loopbackName(u.Hostname())):
		return fmt.Errorf("outbound: the URL's scheme is %q: only https is fetched", u.Scheme)
	}
	address, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil // a name, which is judged by what it stands for then
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return o.mayReach(net.JoinHostPort(address.String(), port))
}

func loopbackName(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// PortOf returns the port that a URL names, 0 where it names none, for
// [Options.Ports]: an address that the operator has written into the
// configuration is listed with its port.
func PortOf(u *url.URL) int {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
