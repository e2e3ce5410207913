package mcp_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
)

// sink keeps what a session says on the way.
type sink struct {
	mu       sync.Mutex
	messages []string
}

func (s *sink) notify(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, string(message))
}

func (s *sink) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.messages
	s.messages = nil
	return taken
}

func newSession(t testing.TB, app *ambit.App, o mcp.Options) (*mcp.Session, *sink) {
	t.Helper()
	var s sink
	return newServer(t, app, o).NewSession(person("editor"), s.notify), &s
}

// TestSession sends messages one after the other and compares what comes back,
// notifications first.
func TestSession(t *testing.T) {
	t.Parallel()
	const steps = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps"}}`
	const done = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"done\"}"}]}}`
	const warning = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"line\nbreak"}}`
	const detail = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"detail"}}`
	const hello = `"capabilities":{"logging":{},"prompts":{},"resources":{},"tools":{}},"serverInfo":{"name":"fixture","title":"The fixture","version":"1.2.3"},"instructions":"Search before you write."}}`
	for name, c := range map[string]struct {
		options      mcp.Options
		sends, comes []string
	}{
		"before the handshake it is the oldest revision": {
			sends: []string{steps},
			comes: []string{warning, done},
		},
		"the handshake settles the revision": {
			sends: []string{
				`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compact"}}`,
				`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
			},
			comes: []string{
				`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18",` + hello,
				"",
				`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"text":"long"},"content":[{"type":"text","text":"short"}]}}`,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"There are no batches in this revision of the protocol."}}`,
			},
		},
		"a level is kept": {
			sends: []string{
				`{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"debug"}}`, steps,
				`{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"error"}}`, steps,
			},
			comes: []string{`{"jsonrpc":"2.0","id":0,"result":{}}`, detail, warning, done, `{"jsonrpc":"2.0","id":0,"result":{}}`, done},
		},
		"progress goes where it was asked for": {
			sends: []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"t"}}}`},
			comes: []string{
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"total":2,"message":"half"}}`,
				warning,
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":2,"total":2}}`,
				done,
			},
		},
		"a message may speak the newest revision by itself": {
			sends: []string{
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","_meta":{` + modernMeta + `}}}`,
				`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{` + modernMeta + `}}}`,
				`{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v9"}}}`,
			},
			comes: []string{
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","structuredContent":"plain \"text\"\n","content":[{"type":"text","text":"plain \"text\"\n"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","title":"The fixture","version":"1.2.3"}}}}`,
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"There is no method \"ping\" here."}}`,
				`{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"This revision of the protocol is not served here.","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"v9"}}}`,
			},
		},
		"the newest revision alone": {
			options: mcp.Options{MinProtocol: "2026-07-28"},
			sends: []string{
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
			},
			comes: []string{
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"This revision of the protocol is not served here.","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}`,
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"The request's _meta must have io.modelcontextprotocol/protocolVersion."}}`,
			},
		},
		"a batch": {
			sends: []string{`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`},
			comes: []string{`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		},
		"a result without line breaks": {
			sends: []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"raw\",\"arguments\":{\r\n\"a\" :\n1}}}"},
			comes: []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":1}"}]}}`},
		},
		"no JSON": {
			sends: []string{`{`},
			comes: []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The message is not valid JSON: the text ends where a string belongs at byte 1."}}`},
		},
		"cancellations of nothing": {
			sends: []string{
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			},
			comes: []string{"", "", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, sink := newSession(t, fixture(ambit.Options{}), c.options)
			var got []string
			for _, message := range c.sends {
				response := session.Handle(t.Context(), []byte(message))
				got = append(append(got, sink.take()...), string(response))
			}
			if diff := cmp.Diff(c.comes, got); diff != "" {
				t.Errorf("what came back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSessionWithoutScope shows that what HTTP would answer by itself is a
// result where there is no HTTP.
func TestSessionWithoutScope(t *testing.T) {
	t.Parallel()
	session := newServer(t, fixture(ambit.Options{}), mcp.Options{}).NewSession(person("scopeless"), nil)
	got := string(session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scoped","_meta":{"progressToken":1}}}`)))
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `"code":"insufficient_scope"`) {
		t.Errorf("want a result with insufficient_scope, got %s", got)
	}
	nobody := newServer(t, fixture(ambit.Options{}), mcp.Options{}).NewSession(nil, nil)
	got = string(nobody.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
	if !strings.Contains(got, `"code":"unauthenticated"`) {
		t.Errorf("want unauthenticated, got %s", got)
	}
}

// waiting returns an application whose one capability tells when it has begun
// and then waits for its context to end.
func waiting() (app *ambit.App, entered <-chan struct{}) {
	app = ambit.New(ambit.Options{Name: "waits", Logger: slog.New(slog.DiscardHandler)})
	begun := make(chan struct{}, 100)
	app.Add(ambit.Define(with(spec("wait", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.Deadline = time.Hour }), func(ctx context.Context, _ ambit.Empty) (string, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}))
	return app, begun
}

// TestT30_CancellationByID shows that a cancellation reaches the request of its
// id, and that 1 and "1" are two ids.
func TestT30_CancellationByID(t *testing.T) {
	t.Parallel()
	app, entered := waiting()
	session, _ := newSession(t, app, mcp.Options{})
	number, text := make(chan []byte, 1), make(chan []byte, 1)
	go func() {
		number <- session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
	}()
	<-entered
	go func() {
		text <- session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"wait"}}`))
	}()
	<-entered
	again := session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":"\u0031","method":"ping"}`))
	if want := `{"jsonrpc":"2.0","id":"\u0031","error":{"code":-32600,"message":"A request with this id is being answered already."}}`; string(again) != want {
		t.Errorf("an id that is in use: want %s, got %s", want, again)
	}
	session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`))
	if got := <-text; got != nil {
		t.Errorf("a canceled request: want no response, got %s", got)
	}
	select {
	case got := <-number:
		t.Errorf("the other request was canceled as well: %s", got)
	default:
	}
	session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	if got := <-number; got != nil {
		t.Errorf("a canceled request: want no response, got %s", got)
	}
}

// TestT30_CancellationStaysInItsSession shows that another session of the same
// principal cancels nothing.
func TestT30_CancellationStaysInItsSession(t *testing.T) {
	t.Parallel()
	app, entered := waiting()
	server := newServer(t, app, mcp.Options{})
	one, other := server.NewSession(person("editor"), nil), server.NewSession(person("editor"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan []byte, 1)
	go func() {
		answer <- one.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
	}()
	<-entered
	other.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	cancel()
	if got := <-answer; !strings.Contains(string(got), `"code":"canceled"`) {
		t.Errorf("want the answer of a call whose context ended, got %s", got)
	}
}

// TestT30_SilenceAfterCancellation shows that a canceled call tells no more.
func TestT30_SilenceAfterCancellation(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "tells"})
	entered := make(chan struct{})
	app.Add(ambit.Define(spec("tell", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (string, error) {
		call := ambit.FromContext(ctx)
		call.Progress(1, 2, "")
		close(entered)
		<-ctx.Done()
		call.Progress(2, 2, "")
		call.Run().Log(slog.LevelError, "too late")
		return "", ctx.Err()
	}))
	session, sink := newSession(t, app, mcp.Options{})
	answer := make(chan []byte, 1)
	go func() {
		answer <- session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tell","_meta":{"progressToken":1}}}`))
	}()
	<-entered
	session.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	if got := <-answer; got != nil {
		t.Errorf("want no response, got %s", got)
	}
	want := []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2}}`}
	if diff := cmp.Diff(want, sink.take()); diff != "" {
		t.Errorf("what was told (-want +got):\n%s", diff)
	}
}
