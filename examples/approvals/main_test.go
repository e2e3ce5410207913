package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// The program serves, with all that it is given.
func TestServes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("AMBIT_KEYS", ambit.NewKey())
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	program := program()
	opened := program.Open
	program.Open = func(ctx context.Context) (*ambit.App, command.Options, error) {
		app, options, err := opened(ctx)
		options.Serve.Ready = func(net.Addr) { interrupt() }
		return app, options, err
	}
	var said strings.Builder
	if code := program.Run(ctx, []string{"--addr", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, &said); code != 0 {
		t.Errorf("want it to serve until it is interrupted, got exit code %d and %s", code, said.String())
	}
}

// Without keys it says what is missing, and how to make them.
func TestNoKeys(t *testing.T) {
	t.Setenv("AMBIT_KEYS", "")
	_, _, err := open(t.Context(), "")
	if want := "AMBIT_KEYS: ambit: a key ring needs a key: make one with openssl rand 32 | basenc --base64url | tr -d '=\\n'"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

// A call of the program waits until somebody has decided on its page.
func TestApprovals(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("AMBIT_KEYS", ambit.NewKey())
	const origin = "http://shelf.example:8000"
	app, options, err := open(t.Context(), origin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := options.Close(); err != nil {
			t.Error(err)
		}
	})
	secret := apikey.Generate()
	for _, record := range []apikey.Record{
		{Name: "robot", Hash: apikey.Hash(secret), Kind: "agent", Permissions: []string{"shelf:clear"}},
		{Name: "ann", Hash: apikey.Hash(apikey.Generate()), Permissions: []string{"approvals:decide"}},
	} {
		if err := options.Keys.Add(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := serve.Handler(app, options.Serve)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, path, body string, header http.Header) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Header = strings.TrimPrefix(origin, "http://"), header
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	call := func() string {
		t.Helper()
		_, text := send(http.MethodPost, "/api/shelf/clear", `{"shelf":"top"}`, http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}})
		return text
	}
	post := func(path string, form url.Values) (*http.Response, string) {
		t.Helper()
		return send(http.MethodPost, path, form.Encode(), http.Header{"Origin": {origin}, "Content-Type": {"application/x-www-form-urlencoded"}})
	}

	asked := regexp.MustCompile(`"url":"` + origin + `(/approvals/\w+)"`).FindStringSubmatch(call())
	if asked == nil {
		t.Fatal("the call does not say where it waits")
	}
	if answer, _ := send(http.MethodGet, asked[1], "", http.Header{}); answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/login?") {
		t.Errorf("want a stranger led to the login, got %d to %s", answer.StatusCode, answer.Header.Get("Location"))
	}
	if _, text := post("/login?back="+url.QueryEscape(asked[1]), url.Values{"name": {"ann"}, "code": {"guess"}}); !strings.Contains(text, "the code is another one") {
		t.Errorf("want a wrong code refused, got\n%s", text)
	}
	right := url.Values{"name": {"ann"}, "code": {codeOf(t, options.Serve.Ready)}}
	for back, want := range map[string]string{asked[1]: asked[1], "/approvals": "/approvals", "//evil.example/": "/approvals", "https://evil.example/approvals/": "/approvals", "": "/approvals"} {
		answer, _ := post("/login?back="+url.QueryEscape(back), right)
		if got := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || got != want {
			t.Fatalf("ann logs in and came from %q: want her led to %s, got %d to %s", back, want, answer.StatusCode, got)
		}
	}
	_, text := send(http.MethodGet, asked[1], "", http.Header{})
	token := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(text)
	if token == nil || !strings.Contains(text, "Take everything off the shelf top") {
		t.Fatalf("want the proposal with its preview and a form, got\n%s", text)
	}
	post(asked[1], url.Values{"verdict": {"approve"}, "token": {token[1]}})
	if diff := cmp.Diff(`{"ok":true,"data":{"cleared":"top"}}`, call()); diff != "" {
		t.Errorf("the approved call (-want +got):\n%s", diff)
	}
}

// The server says where its page is, or how it gets one where it listens.
func TestAnnouncement(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("AMBIT_KEYS", ambit.NewKey())
	for _, test := range []struct {
		publicURL string
		ip        net.IP
		port      int
		want      string
	}{
		{"", net.IPv4(127, 0, 0, 1), 8080, "approvals page=http://127.0.0.1:8080/approvals code="},
		{"", net.IPv6zero, 8080, "approvals page=http://127.0.0.1:8080/approvals code="},
		{"", net.IPv4(127, 0, 0, 1), 9000, "approvals page=none, since callers are sent to http://127.0.0.1:8080/approvals: to have it here, add --public-url http://127.0.0.1:9000\n"},
		{"https://shelf.example", net.IPv6zero, 9000, "approvals page=https://shelf.example/approvals code="},
	} {
		_, options, err := open(t.Context(), test.publicURL)
		if err != nil {
			t.Fatal(err)
		}
		if got := said(t, options.Serve.Ready, &net.TCPAddr{IP: test.ip, Port: test.port}); !strings.HasPrefix(got, test.want) {
			t.Errorf("%q on %s:%d: want %q, got %q", test.publicURL, test.ip, test.port, test.want, got)
		}
		if err := options.Close(); err != nil {
			t.Error(err)
		}
	}
}

// codeOf returns the code that the server announces.
func codeOf(t *testing.T, ready func(net.Addr)) string {
	t.Helper()
	line := said(t, ready, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	code := regexp.MustCompile(`code=(\w+)`).FindStringSubmatch(line)
	if code == nil {
		t.Fatalf("no code in %q", line)
	}
	return code[1]
}

// said returns what the server writes when it listens there.
func said(t *testing.T, ready func(net.Addr), bound net.Addr) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	terminal := os.Stderr
	os.Stderr = write
	ready(bound)
	os.Stderr = terminal
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}
