package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// asked returns a POST with a body, from someone with a few headers.
func asked(body string, headers ...string) *http.Request {
	text := "POST /mcp\n" + strings.Join(headers, "\n") + "\n\n" + body
	r, err := client().Parse([]byte(text))
	if err != nil {
		panic(err) // the test is wrong
	}
	return r
}

// sent returns the whole answer to a request.
func sent(server http.Handler, r *http.Request) string {
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, r)
	return render(recorder)
}

func TestT02_ChallengeWithoutReadingTheBody(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), withPeople())
	var answers []string
	for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
		r := httptest.NewRequest(method, "http://localhost/mcp", unread{t})
		r.Header.Set("X-Request-Id", "test")
		answers = append(answers, sent(server, r))
	}
	for _, answer := range answers {
		if diff := cmp.Diff(answers[0], answer); diff != "" {
			t.Errorf("answers to two methods (-first +other):\n%s", diff)
		}
	}
	if !strings.HasPrefix(answers[0], "401\n") || !strings.Contains(answers[0], `Www-Authenticate: Test realm="people"`) {
		t.Errorf("want 401 with a challenge, got:\n%s", answers[0])
	}
}

// TestT07_UnexposedIsUnknown compares the answers for a name that is exposed
// elsewhere with those for a name that does not exist, in every revision, alone
// and in a batch, with everything that might tell them apart.
func TestT07_UnexposedIsUnknown(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), withPeople())
	// Both names of a pair are as far from every other one.
	pairs := []struct{ unexposed, unknown string }{{"hidden_job", "absent_job"}, {"hidden.job", "absent.job"}}
	probes := map[string]func(name string) *http.Request{}
	for _, person := range []string{"editor", "guest", "scopeless"} {
		for _, arguments := range []string{`{}`, `{"a":1}`, `[]`, `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`} {
			for _, extra := range []string{"", `"dev.ambit/reason":1`, `"progressToken":1`} {
				call := func(name, meta string) string {
					if extra != "" && meta != "" {
						meta += ","
					}
					return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `,"_meta":{` + meta + extra + `}}}`
				}
				key := person + " " + arguments + " " + extra
				for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
					probes[key+" "+revision] = func(name string) *http.Request {
						return asked(call(name, ""), "Authorization: Test "+person, "Mcp-Protocol-Version: "+revision)
					}
				}
				probes[key+" batch"] = func(name string) *http.Request {
					return asked("["+call(name, "")+"]", "Authorization: Test "+person)
				}
				probes[key+" modern"] = func(name string) *http.Request {
					return asked(call(name, "META"), "Authorization: Test "+person, "modern tools/call "+name)
				}
			}
		}
	}
	for key, probe := range probes {
		for _, pair := range pairs {
			want := sent(server, probe(pair.unknown))
			got := strings.ReplaceAll(sent(server, probe(pair.unexposed)), pair.unexposed, pair.unknown)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-unknown +unexposed):\n%s", pair.unexposed, key, diff)
			}
		}
	}
}

// TestT08_Pages walks a long list by its cursors, which hold for one caller.
func TestT08_Pages(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "many"})
	for i := range 250 {
		s := spec(fmt.Sprintf("c%03d", i), ambit.Read, "even")
		if i%2 == 1 {
			s.Permission = ambit.Authenticated
		}
		app.Add(ambit.Define(s, ran))
	}
	server := newServer(t, app, withPeople())
	var names, cursors []string
	for cursor := ""; ; {
		answer := sent(server, asked(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"`+cursor+`"}}`, "Authorization: Test guest"))
		for _, match := range regexp.MustCompile(`\{"name":"(c[0-9]+)"`).FindAllStringSubmatch(answer, -1) {
			names = append(names, match[1])
		}
		next := regexp.MustCompile(`"nextCursor":"([^"]+)"`).FindStringSubmatch(answer)
		if next == nil {
			break
		}
		cursor = next[1]
		cursors = append(cursors, cursor)
	}
	var want []string
	for i := 1; i < 250; i += 2 {
		want = append(want, fmt.Sprintf("c%03d", i))
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for _, cursor := range cursors {
		answer := sent(server, asked(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"`+cursor+`"}}`, "Authorization: Test editor"))
		if !strings.Contains(answer, `"code":-32602`) {
			t.Errorf("another caller's cursor: want -32602, got:\n%s", answer)
		}
	}
}

func TestT11_RequestID(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), withPeople())
	for given, kept := range map[string]bool{"abc-1_2": true, "a b": false, strings.Repeat("a", 65): false} {
		r := asked(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization: Test guest", "X-Request-Id: "+given)
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, r)
		id := recorder.Header().Get("X-Request-Id")
		if kept != (id == given) || !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(id) {
			t.Errorf("id %q: got %q, kept should be %v", given, id, kept)
		}
	}
}

// TestT21_KeyAgrees shows that a key in a header and in the message is one key.
func TestT21_KeyAgrees(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), withPeople())
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me","_meta":{"dev.ambit/idempotency-key":"k1"}}}`
	for _, c := range []struct {
		name    string
		headers []string
		refused bool
	}{
		{"in the message alone", nil, false},
		{"the same", []string{"Idempotency-Key: k1"}, false},
		{"another", []string{"Idempotency-Key: k2"}, true},
		{"an empty one", []string{"Idempotency-Key:"}, true},
		{"twice", []string{"Idempotency-Key: k1", "Idempotency-Key: k1"}, true},
	} {
		answer := sent(server, asked(call, append(c.headers, "Authorization: Test guest")...))
		if got := strings.Contains(answer, `"dev.ambit/error":{"code":"invalid_input"`); got != c.refused {
			t.Errorf("%s: want refused %v, got:\n%s", c.name, c.refused, answer)
		}
	}
}

// TestT25_BodyOfAStranger reads no more of it than 64 KiB, declared or not.
func TestT25_BodyOfAStranger(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	declared := asked(`{}`)
	declared.Body, declared.ContentLength = io.NopCloser(unread{t}), trust.MaxAnonymousBody+1
	if answer := sent(server, declared); !strings.HasPrefix(answer, "413\n") {
		t.Errorf("a length that is too large: want 413, got:\n%s", answer)
	}
	endless := asked(`{}`)
	var read atomic.Int64
	endless.Body, endless.ContentLength = io.NopCloser(endlessBody{&read}), -1
	if answer := sent(server, endless); !strings.HasPrefix(answer, "413\n") {
		t.Errorf("a body without end: want 413, got:\n%s", answer)
	}
	if n := read.Load(); n > 2*trust.MaxAnonymousBody {
		t.Errorf("read %d bytes of a stranger's body", n)
	}
}

type endlessBody struct{ read *atomic.Int64 }

func (b endlessBody) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	b.read.Add(int64(len(p)))
	return len(p), nil
}

// TestT29_CookiesReachNothing shows that neither the authenticator nor the
// handler sees one, and that the caller of ServeHTTP keeps them.
func TestT29_CookiesReachNothing(t *testing.T) {
	t.Parallel()
	server := newServer(t, fixture(ambit.Options{}), withPeople())
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me"}}`, "Cookie: session=editor")
	if answer := sent(server, r); !strings.HasPrefix(answer, "401\n") {
		t.Errorf("a cookie alone: want 401, got:\n%s", answer)
	}
	if diff := cmp.Diff([]string{"session=editor"}, r.Header["Cookie"]); diff != "" {
		t.Errorf("the caller's own header (-want +got):\n%s", diff)
	}
}

// TestT30_CancellationNeedsAConnection shows that a message can cancel nothing
// over HTTP, not even of the same caller.
func TestT30_CancellationNeedsAConnection(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "waits"})
	entered, release := make(chan struct{}), make(chan struct{})
	app.Add(ambit.Define(spec("wait", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (string, error) {
		close(entered)
		<-release
		return "not canceled", ctx.Err()
	}))
	server := newServer(t, app, withPeople())
	answer := make(chan string)
	go func() {
		answer <- sent(server, asked(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}`, "Authorization: Test guest"))
	}()
	<-entered
	got := sent(server, asked(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "Authorization: Test guest"))
	if !strings.HasPrefix(got, "202\n") {
		t.Errorf("want 202, got:\n%s", got)
	}
	close(release)
	if got := <-answer; !strings.Contains(got, "not canceled") {
		t.Errorf("want the call's own answer, got:\n%s", got)
	}
}

// TestDisconnectCancels shows that a client that goes away takes its call along.
func TestDisconnectCancels(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "waits"})
	entered := make(chan struct{})
	app.Add(ambit.Define(spec("wait", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (string, error) {
		close(entered)
		<-ctx.Done()
		return "", ctx.Err()
	}))
	server := newServer(t, app, withPeople())
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-entered
		leave()
	}()
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`, "Authorization: Test guest")
	if got := sent(server, r.WithContext(ctx)); !strings.Contains(got, `"code":"canceled"`) {
		t.Errorf("want a canceled call, got:\n%s", got)
	}
}

// TestStreamArrivesAtOnce shows that progress is sent while the call works.
func TestStreamArrivesAtOnce(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "streams"})
	seen := make(chan struct{})
	app.Add(ambit.Define(spec("work", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (string, error) {
		ambit.FromContext(ctx).Progress(1, 2, "half")
		<-seen
		return "done", nil
	}))
	server := httptest.NewServer(newServer(t, app, withPeople()))
	defer server.Close()
	r := asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1}}}`, "Authorization: Test guest")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, r.Body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = r.Header
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	event := make([]byte, len("event: message\ndata: {"))
	if _, err := io.ReadFull(answer.Body, event); err != nil {
		t.Fatal(err)
	}
	close(seen)
	rest, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(rest), "\"text\":\"done\"}]}}\n\n") {
		t.Errorf("want the response as the last event, got:\n%s", rest)
	}
}

// TestPanicsOutsideOfCalls shows that a panic of the application in a listing is
// an error response, and that the server goes on.
func TestPanicsOutsideOfCalls(t *testing.T) {
	t.Parallel()
	policy := ambit.PolicyFunc(func(context.Context, *ambit.Principal, string) (bool, error) { panic("secret of the server") })
	server := newServer(t, fixture(ambit.Options{Policy: policy}), withPeople())
	for _, method := range []string{"tools/list", "tools/call"} {
		answer := sent(server, asked(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"name":"notes_create"}}`, "Authorization: Test guest"))
		if !strings.HasPrefix(answer, "200\n") || strings.Contains(answer, "secret") || !strings.Contains(answer, "rror") {
			t.Errorf("%s: want an error that tells nothing, got:\n%s", method, answer)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := mcp.New(fixture(ambit.Options{}), mcp.Options{MinProtocol: "2024-11-05"}); err == nil {
		t.Error("a revision that is not served was taken")
	}
	if _, err := mcp.New(fixture(ambit.Options{}), mcp.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{nil}}}); err == nil {
		t.Error("trust options that cannot work were taken")
	}
	app := ambit.New(ambit.Options{Name: "destroys"})
	app.Add(ambit.Define(spec("purge", ambit.Destructive, "notes:write"), ran))
	if _, err := mcp.New(app, mcp.Options{}); err == nil {
		t.Error("an application that cannot be served was taken")
	}
}
