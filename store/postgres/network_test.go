package postgres_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// network is the way to a server, which can be cut off: what is sent then does not
// arrive before it is restored, and nobody is told.
type network struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	there chan struct{} // closed while there is a way to the server
	back  chan struct{} // closed while there is a way back
	open  map[net.Conn]bool
	all   sync.WaitGroup
}

// through returns a network to the server of a database, and the database's
// address through it.
func through(t *testing.T, address string) (n *network, by string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n = &network{listener: listener, server: u.Host, there: make(chan struct{}), back: make(chan struct{}), open: map[net.Conn]bool{}}
	n.restore()
	n.all.Go(n.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		n.restore()
		n.mu.Lock()
		for c := range n.open {
			_ = c.Close()
		}
		n.mu.Unlock()
		n.all.Wait()
	})
	u.Host = listener.Addr().String()
	return n, u.String()
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", n.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		n.mu.Lock()
		n.open[client], n.open[server] = true, true
		n.mu.Unlock()
		n.all.Go(func() { n.carry(client, server, &n.there) })
		n.all.Go(func() { n.carry(server, client, &n.back) })
	}
}

// carry carries what one side sends to the other, while there is a way.
func (n *network) carry(from, to net.Conn, by *chan struct{}) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		length, err := from.Read(buffer)
		n.mu.Lock()
		way := *by
		n.mu.Unlock()
		<-way
		if _, stuck := to.Write(buffer[:length]); stuck != nil || err != nil && err != io.EOF || err == io.EOF {
			return
		}
	}
}

// cut cuts the network off, both ways.
func (n *network) cut() {
	n.cutBack()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.there = make(chan struct{})
}

// cutBack cuts off the way back: the server does what it is told, and nobody hears
// of it.
func (n *network) cutBack() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.back = make(chan struct{})
}

// restore ends that.
func (n *network) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, way := range []chan struct{}{n.there, n.back} {
		select {
		case <-way:
		default:
			close(way)
		}
	}
}
