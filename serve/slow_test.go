package serve

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// pipes are a listener without a network, whose connections know the clock of the
// test.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// piped is a server in a bubble.
type piped struct {
	*http.Server
	listener *pipes
	ended    chan error
}

func startPiped(t *testing.T, handler http.Handler) *piped {
	t.Helper()
	limits, err := Limits{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	p := &piped{limits.newServer(handler), &pipes{connections: make(chan net.Conn), closed: make(chan struct{})}, make(chan error, 1)}
	go func() { p.ended <- p.Serve(limits.paceAnswers(p.listener)) }()
	return p
}

// end closes the server.
func (p *piped) end(t *testing.T) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-p.ended
}

// send opens a connection, writes to it and returns all that comes, and when the
// last of it did.
func (p *piped) send(t *testing.T, text string) (answer string, took time.Duration) {
	t.Helper()
	began := time.Now()
	client, server := net.Pipe()
	defer func() { _ = client.Close() }()
	p.listener.connections <- server
	if _, err := io.WriteString(client, text); err != nil {
		t.Error(err)
	}
	whole, err := io.ReadAll(client)
	if err != nil {
		t.Error(err)
	}
	return string(whole), time.Since(began)
}

// A client whose body stalls is told so once its time is over, and cut off.
func TestT27_SlowBodyIsAnswered(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "served", Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	handler, err := Handler(app, Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	const post = "POST /api/greet HTTP/1.1\r\nHost: localhost\r\n"
	for _, test := range []struct{ name, request, want string }{
		{"read by the call", post + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "400"},
		{"of unknown length", post + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{", "400"},
		{"refused and not read", post + "Content-Type: text/plain\r\nContent-Length: 100\r\n\r\n{", "415"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := startPiped(t, handler)
			defer p.end(t)
			answer, took := p.send(t, test.request)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) || took < 15*time.Second || took > 16*time.Second {
				t.Errorf("%s: want %s and the end after 15 s, got it after %s: %.300q", test.name, test.want, took, answer)
			}
		})
	}
}

// A stream that says nothing for longer than a stall is no slow client, even after
// its request had a body.
func TestT27_SilentStreamLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := startPiped(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			_, _ = io.WriteString(w, "first\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(time.Hour):
				_, _ = io.WriteString(w, "second\n")
			case <-r.Context().Done():
				_, _ = io.WriteString(w, "canceled\n")
			}
		}))
		defer p.end(t)
		answer, _ := p.send(t, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
		if !strings.Contains(answer, "first") || !strings.Contains(answer, "second") {
			t.Errorf("want first and, an hour later, second, got %q", answer)
		}
	})
}

// A shutdown ends well when the calls that it cancels come to their end, and says so
// when one does not.
func TestShutDownWaitsForTheCanceled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		late time.Duration // until the call ends once it was canceled
		took time.Duration
		want string
	}{
		{"at once", 0, time.Minute, ""},
		{"a little later", 4 * time.Second, time.Minute + 4*time.Second, ""},
		{"not at all", time.Hour, time.Minute + afterCancel, "calls went on after they had been canceled"},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls, cancel := context.WithCancel(t.Context())
			started, done := make(chan struct{}), make(chan struct{})
			p := startPiped(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				close(started)
				<-calls.Done()
				<-time.After(test.late)
			}))
			client, server := net.Pipe()
			p.listener.connections <- server
			go func() {
				defer close(done)
				_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
				_, _ = io.ReadAll(client)
			}()
			<-started
			began, got := time.Now(), ""
			if err := shutDown(p.Server, time.Minute, cancel); err != nil {
				got = err.Error()
			}
			// Shutdown looks twice a second.
			if took := time.Since(began); (got == "") != (test.want == "") || !strings.Contains(got, test.want) || took < test.took || took > test.took+time.Second {
				t.Errorf("%s: want %q after %s, got %q after %s", test.name, test.want, test.took, got, took)
			}
			<-p.ended
			<-done
			<-time.After(test.late) // the call's own end
		})
	}
}
