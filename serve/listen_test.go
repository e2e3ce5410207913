package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// server is an application that is served on a free port.
type server struct {
	address string
	stop    context.CancelFunc
	ended   chan error
}

// start serves until the test ends, if it does not stop the server itself.
func start(t *testing.T, app *ambit.App, o serve.Options) *server {
	t.Helper()
	return startReady(t, app, o, func() {})
}

// startReady is start that tells when the server is ready.
func startReady(t *testing.T, app *ambit.App, o serve.Options, isReady func()) *server {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &server{stop: stop, ended: make(chan error, 1)}
	ready := make(chan net.Addr, 1)
	o.Ready = func(address net.Addr) { isReady(); ready <- address }
	go func() { s.ended <- serve.ListenAndServe(ctx, "127.0.0.1:0", app, o) }()
	select {
	case address := <-ready:
		s.address = address.String()
	case err := <-s.ended:
		stop()
		t.Fatalf("ListenAndServe: %v", err)
	}
	t.Cleanup(func() {
		stop()
		<-s.ended
	})
	return s
}

// shutDown stops the server and returns what ListenAndServe said.
func (s *server) shutDown() error {
	s.stop()
	err := <-s.ended
	s.ended <- nil // for the test's end
	return err
}

// dial opens a connection and writes to it.
func (s *server) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if _, err := io.WriteString(connection, text); err != nil {
		t.Fatal(err)
	}
	return connection
}

// call posts to a path of the server through a client of its own.
func (s *server) call(path, body string) (int, string, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Post("http://"+s.address+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestServeAndShutDown(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			next.ServeHTTP(w, r)
		})
	}
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Wrap: count})
	status, body, err := s.call("/api/greet", "{}")
	if err != nil || status != 200 || body != `{"ok":true,"data":{}}` {
		t.Errorf("call: want 200 and an answer, got %d %s %v", status, body, err)
	}
	if err := s.shutDown(); err != nil {
		t.Errorf("shutdown: want nil, got %v", err)
	}
	_, _, _ = s.call("/api/greet", "{}") // which somebody else may answer who has the port by now
	if got := reached.Load(); got != 1 {
		t.Errorf("call after the shutdown: want the server reached once in all, got %d times", got)
	}
}

// waiting is a capability that tells when it works, and works until it is told
// or its context ends.
func waiting(started chan<- struct{}, proceed <-chan struct{}, ended chan<- error) ambit.AnyCapability {
	return ambit.Define(ambit.Spec{
		Name: "wait", Description: "Wait.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP, Deadline: time.Hour,
	}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		close(started)
		select {
		case <-proceed:
		case <-ctx.Done():
		}
		ended <- ctx.Err()
		return ambit.Empty{}, ctx.Err()
	})
}

func TestCallsUnderWayFinish(t *testing.T) {
	t.Parallel()
	started, proceed, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s := start(t, newApp(ambit.Options{}, waiting(started, proceed, ended)), serve.Options{Limits: serve.Limits{Grace: time.Hour}})
	answered := make(chan string, 1)
	go func() {
		status, body, err := s.call("/api/wait", "{}")
		answered <- fmt.Sprint(status, body, err)
	}()
	<-started
	s.stop()
	// The listener is closed first, so a refused connection shows that the
	// shutdown is under way while the call is.
	for {
		connection, err := net.Dial("tcp", s.address)
		if err != nil {
			break
		}
		_ = connection.Close()
	}
	close(proceed)
	if err := s.shutDown(); err != nil {
		t.Errorf("shutdown: want nil, got %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("context of the call: want no end, got %v", err)
	}
	if got, want := <-answered, `200{"ok":true,"data":{}}<nil>`; got != want {
		t.Errorf("answer: want %s, got %s", want, got)
	}
}

func TestCallsThatOutlastTheGraceAreCanceled(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, newApp(ambit.Options{}, waiting(started, nil, ended)), serve.Options{Limits: serve.Limits{Grace: time.Millisecond}})
	go func() { _, _, _ = s.call("/api/wait", "{}") }()
	<-started
	_ = s.shutDown() // what it returns is what TestShutDownWaitsForTheCanceled is about
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("context of the call: want canceled, got %v", err)
	}
}

func TestT27_RefusesToStart(t *testing.T) {
	t.Parallel()
	keys, err := apikey.New()
	if err != nil {
		t.Fatal(err)
	}
	with := trust.Options{Authenticators: []trust.Authenticator{keys}, Hosts: []string{"notes.example"}}
	tests := []struct {
		name, address, want string
		development         bool
		options             serve.Options
	}{
		{"all addresses without authenticators", ":0", "without authenticators", false, serve.Options{}},
		{"an address of the network without authenticators", "0.0.0.0:0", "without authenticators", false, serve.Options{}},
		{"development for all", "0.0.0.0:0", "development mode", true, serve.Options{Trust: with}},
		{"development, allowed", "0.0.0.0:0", "development mode", true, serve.Options{Trust: trust.Options{AllowUnauthenticated: true}}},
		{"no address", "nowhere", "address", false, serve.Options{}},
		{"a negative limit", "127.0.0.1:0", "Limits.Stall is negative", false, serve.Options{Limits: serve.Limits{Stall: -1}}},
		{"what Handler refuses", "127.0.0.1:0", "Prefix", false, serve.Options{APIPrefix: "x"}},
		{"TLS without a certificate", "127.0.0.1:0", "no certificate", false, serve.Options{TLS: &tls.Config{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := newApp(ambit.Options{Development: tt.development}, greet(ambit.HTTP))
			err := serve.ListenAndServe(t.Context(), tt.address, app, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error with %q, got %v", tt.want, err)
			}
		})
	}
	for name, options := range map[string]trust.Options{"authenticators": with, "allowed": {AllowUnauthenticated: true}} {
		ctx, stop := context.WithCancel(t.Context())
		err := serve.ListenAndServe(ctx, "0.0.0.0:0", newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{
			Trust: options, Ready: func(net.Addr) { stop() },
		})
		stop()
		if err != nil {
			t.Errorf("all addresses with %s: want a start, got %v", name, err)
		}
	}
}

// closes waits until the server has closed the connection and returns what it
// sent before. The limits of the tests below are short; what they must not do
// is let the read wait forever.
func closes(connection net.Conn) string {
	text, _ := io.ReadAll(connection) // a reset is a close as well
	return string(text)
}

const short = 30 * time.Millisecond

func TestT27_SlowHeader(t *testing.T) {
	t.Parallel()
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Limits: serve.Limits{Header: short}})
	closes(s.dial(t, "POST /api/greet HTTP/1.1\r\nHost: local"))
}

func TestT27_LargeHeader(t *testing.T) {
	t.Parallel()
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Limits: serve.Limits{HeaderBytes: 1 << 10}})
	got := closes(s.dial(t, "POST /api/greet HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("a", 8<<10)+"\r\n\r\n"))
	if !strings.HasPrefix(got, "HTTP/1.1 431") {
		t.Errorf("want 431, got %.100q", got)
	}
}

func TestT27_IdleConnection(t *testing.T) {
	t.Parallel()
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Limits: serve.Limits{Idle: short}})
	got := closes(s.dial(t, "POST /api/greet HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	if !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("want 200 and then the end, got %.100q", got)
	}
}

// What such a client is told is what TestT27_SlowBodyIsAnswered is about.
func TestT27_SlowBody(t *testing.T) {
	t.Parallel()
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Limits: serve.Limits{Stall: short}})
	closes(s.dial(t, "POST /api/greet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))
}

// TestT27_ClientThatDoesNotRead asks for more than the buffers between the two
// hold and never reads: the handler's write must end.
func TestT27_ClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	wrote := make(chan error, 1)
	flood := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			block, err := make([]byte, 64<<10), error(nil)
			for err == nil {
				_, err = w.Write(block)
			}
			wrote <- err
		})
	}
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{Wrap: flood, Limits: serve.Limits{Stall: short, Rate: 1 << 30}})
	s.dial(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	var timeout net.Error
	if err := <-wrote; !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("write: want a timeout, got %v", err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	// httptest has a certificate, and a client that trusts it.
	test := httptest.NewUnstartedServer(nil)
	test.EnableHTTP2 = true
	test.StartTLS()
	certificates, client := test.TLS.Certificates, test.Client()
	test.Close()
	defer client.CloseIdleConnections()
	s := start(t, newApp(ambit.Options{}, greet(ambit.HTTP)), serve.Options{TLS: &tls.Config{Certificates: certificates}})
	response, err := client.Post("https://"+s.address+"/api/greet", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 || response.ProtoMajor != 2 {
		t.Errorf("want 200 over HTTP/2, got %s over %s", response.Status, response.Proto)
	}
}
