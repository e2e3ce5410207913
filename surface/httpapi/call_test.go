package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
)

// TestHalfWrittenBody sends less than Content-Length promises and then nothing
// more.
func TestHalfWrittenBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newAPI(t, fixture(ambit.Options{}), withPeople()))
	defer server.Close()
	for _, framing := range []string{"Content-Length: 50\r\n\r\n{\"query\":", "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"query\":\r\n"} {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		_, err = fmt.Fprintf(connection, "POST /api/notes/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Test editor\r\n"+
			"Content-Type: application/json\r\nX-Request-Id: test\r\n%s", framing)
		if err != nil {
			t.Fatal(err)
		}
		if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := `400 {"ok":false,"error":{"code":"invalid_input","message":"The body ended before it was complete.","hint":"Send as many bytes as Content-Length says."}}`
		if diff := cmp.Diff(want, fmt.Sprint(response.StatusCode, " ", string(body))); diff != "" {
			t.Errorf("%.20s (-want +got):\n%s", framing, diff)
		}
	}
}

// outcomes keeps the codes of calls.
type outcomes struct{ codes chan ambit.Code }

func (outcomes) Start(ctx context.Context, _ ambit.Event) context.Context { return ctx }

func (o outcomes) Finish(_ context.Context, e ambit.Event) { o.codes <- e.Code }

// TestClientThatGoesAway closes the connection while the handler works.
func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	started, seen := make(chan struct{}), outcomes{make(chan ambit.Code, 1)}
	app := ambit.New(ambit.Options{Name: "slow", Observers: []ambit.Observer{seen}, Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(spec("wait", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		close(started)
		<-ctx.Done()
		return ambit.Empty{}, ctx.Err()
	}))
	server := httptest.NewServer(newAPI(t, app, httpapi.Options{}))
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/api/wait", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	go func() {
		<-started
		leave()
	}()
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("client: want its own cancellation, got %v", err)
	}
	if got := <-seen.codes; got != ambit.CodeCanceled {
		t.Errorf("code: want %s, got %s", ambit.CodeCanceled, got)
	}
}

type contextKey struct{}

// TestContext: what the application's middleware put into the request's context
// reaches the handler, but who is calling and from where does not come from it.
func TestContext(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "context", Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(spec("show", ambit.Read, ambit.Authenticated), func(ctx context.Context, _ ambit.Empty) (textOutput, error) {
		call := ambit.FromContext(ctx)
		return textOutput{Text: fmt.Sprint(ctx.Value(contextKey{}), " ", call.Principal().Subject, " ", call.Surface())}, nil
	}))
	api := newAPI(t, app, withPeople())
	request := []byte("POST /api/show\nAuthorization: Test guest\n")

	got := answer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, "from middleware")))
	}), request)
	if want := `{"ok":true,"data":{"text":"from middleware guest http"}}`; !strings.Contains(got, want) {
		t.Errorf("a value: want %s, got\n%s", want, got)
	}

	got = answer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, run := app.NewRun(r.Context(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "test", Subject: "mallory", Unscoped: true}})
		defer run.End()
		api.ServeHTTP(w, r.WithContext(ctx))
	}), request)
	if strings.Contains(got, "mallory") {
		t.Errorf("a run of another principal: want it to have no say, got\n%s", got)
	}
}

// TestBuffersAreNotMixedUp makes many different calls at once.
func TestBuffersAreNotMixedUp(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	var together sync.WaitGroup
	for i := range 8 {
		together.Go(func() {
			for j := range 50 {
				want := strings.Repeat(fmt.Sprint(i, "-", j, " "), 1+(i*j)%20)
				input, err := json.Marshal(map[string]string{"query": want})
				if err != nil {
					t.Error(err)
				}
				r := httptest.NewRequest("POST", "http://localhost/api/raw", strings.NewReader(string(input)))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Test guest")
				recorder := httptest.NewRecorder()
				api.ServeHTTP(recorder, r)
				if diff := cmp.Diff(`{"ok":true,"data":`+string(input)+`}`, recorder.Body.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
	together.Wait()
}

// keeper fails to write and keeps what it was given, as HTTP/2 may.
type keeper struct {
	*httptest.ResponseRecorder
	kept []byte
}

func (k *keeper) Write(p []byte) (int, error) {
	k.kept = p
	return 0, errors.New("gone")
}

func TestBufferOfAFailedWriteIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	failing := &keeper{ResponseRecorder: httptest.NewRecorder()}
	r, err := client().Parse([]byte("POST /api/me\nAuthorization: Test guest\n"))
	if err != nil {
		t.Fatal(err)
	}
	api.ServeHTTP(failing, r)
	want := string(failing.kept)
	for range 20 {
		_ = answer(t, api, []byte("POST /api/greet\nAuthorization: Test guest\n"))
	}
	if diff := cmp.Diff(want, string(failing.kept)); diff != "" || !strings.Contains(want, "guest by http") {
		t.Errorf("what the failed writer holds (-first +later):\n%s", diff)
	}
}
