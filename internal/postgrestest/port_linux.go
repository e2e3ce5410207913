package postgrestest

import (
	"errors"
	"syscall"
)

// port is a port of this machine that nobody else is given while it is held, also
// while the server is stopped: it is bound, and nobody listens on it but the server,
// which may, since both say that the address can be used again.
type port struct{ number, socket int }

// hold returns a port that is free.
func hold() (*port, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	p := &port{socket: socket}
	err = errors.Join(
		syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	p.number = at.(*syscall.SockaddrInet4).Port
	return p, nil
}

// release lets others have the port.
func (p *port) release() error { return syscall.Close(p.socket) }
