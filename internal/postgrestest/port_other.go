//go:build !linux

package postgrestest

import "net"

// port is a port of this machine that was free when it was asked for.
type port struct{ number int }

// hold returns a port that is free.
func hold() (*port, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &port{listener.Addr().(*net.TCPAddr).Port}, listener.Close()
}

// release lets others have the port, which they may have taken already.
func (*port) release() error { return nil }
