package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// world is an application behind a real server, and an issuer.
type world struct {
	issuer *issuertest.Issuer
	tokens *oauth.Authenticator
	url    string
	log    *logged
	later  chan context.Context // of the capability relay.later
	client *http.Client
}

// logged is what operators read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// setting is what a test has otherwise. The options are complete when it gets them.
type setting struct {
	oauth   func(*oauth.Options)
	trust   func(*trust.Options)
	implied map[string][]string // of the application
	// server gets the server before it starts; what it returns starts it.
	server func(*httptest.Server) (start func())
}

func newIssuer(t testing.TB) *issuertest.Issuer {
	t.Helper()
	issuer, err := issuertest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(issuer.Close)
	return issuer
}

// start serves an application whose two endpoints take tokens of one issuer.
func start(t testing.TB, s setting) *world {
	t.Helper()
	w := &world{issuer: newIssuer(t), log: &logged{}, later: make(chan context.Context, 1)}
	server := httptest.NewUnstartedServer(nil)
	scheme, run := "http://", server.Start
	if s.server != nil {
		scheme, run = "https://", s.server(server)
	}
	w.url = scheme + server.Listener.Addr().String()
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	o := oauth.Options{
		Resources: []oauth.Resource{
			{URL: w.url + "/mcp", Audiences: []string{w.url + "/mcp"}, Scopes: []string{"notes"}, MoreScopes: []string{"notes:read", "notes:write"}, Name: "Notes"},
			{URL: w.url + "/api", Audiences: []string{w.url + "/api"}},
		},
		Issuers:  []oauth.Issuer{{URL: w.issuer.URL}},
		Loopback: true, Logger: logger,
	}
	if s.oauth != nil {
		s.oauth(&o)
	}
	var err error
	if w.tokens, err = oauth.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.tokens.Close)
	w.tokens.Unhurried()
	options := trust.Options{Authenticators: []trust.Authenticator{w.tokens}}
	if s.trust != nil {
		s.trust(&options)
	}
	handler, err := serve.Handler(newApp(logger, s.implied, w.later), serve.Options{Trust: options})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	run()
	w.client = server.Client()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(server.Close)
	return w
}

// who is the caller as a capability sees it.
type who struct {
	Key    string   `json:"key"`
	Client string   `json:"client"`
	Kind   string   `json:"kind"`
	Scopes []string `json:"scopes"`
	Roles  []string `json:"roles"`
	Holds  []string `json:"holds"`
}

type relayIn struct {
	Audience string `json:"audience"`
}

// relayed is what came of a token exchange.
type relayed struct {
	Subject  string `json:"subject"`
	Audience string `json:"audience"`
	Same     bool   `json:"same"`
	Printed  string `json:"printed"`
}

// policy gives what a principal lists, and lets everybody act for others.
type policy struct{}

func (policy) Allow(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
	return slices.Contains(p.Permissions, permission), nil
}

func (policy) AllowDelegate(context.Context, string, *ambit.Principal, *ambit.Principal) (bool, error) {
	return true, nil
}

func newApp(logger *slog.Logger, implied map[string][]string, later chan<- context.Context) *ambit.App {
	app := ambit.New(ambit.Options{Name: "notes", Version: "1.0.0", Logger: logger, ImpliedScopes: implied, Policy: policy{}})
	spec := func(name string, scopes ...string) ambit.Spec {
		return ambit.Spec{
			Name: name, Description: "For tests.", Effect: ambit.Read, Permission: ambit.Authenticated,
			Expose: ambit.HTTP | ambit.MCP, Scopes: scopes,
		}
	}
	whoami := func(ctx context.Context, _ ambit.Empty) (who, error) {
		p := ambit.FromContext(ctx).Principal()
		return who{p.Key(), p.Client, p.Kind.String(), append([]string{}, p.Scopes...), append([]string{}, p.Roles...), append([]string{}, p.Permissions...)}, nil
	}
	app.Add(
		ambit.Define(spec("whoami"), whoami),
		ambit.Define(spec("notes.write", "notes:read", "notes:write"), whoami),
		ambit.Define(spec("relay"), relay),
	)
	app.Add(ambit.Define(spec("relay.others"), func(ctx context.Context, in relayIn) (relayed, error) {
		ctx, run := app.Delegate(ctx, ambit.RunOptions{Principal: &ambit.Principal{Authority: "test", Subject: "bob", Unscoped: true}})
		defer run.End()
		_, err := run.Invoke(ctx, ambit.Request{Name: "relay", Input: []byte(`{"audience":"` + in.Audience + `"}`)})
		return relayed{Printed: string(ambit.CodeOf(err))}, nil
	}))
	app.Add(ambit.Define(spec("relay.both"), func(ctx context.Context, _ ambit.Empty) (relayed, error) {
		first, err := oauth.Exchange(ctx, "mail", "admin", "send")
		if err != nil {
			return relayed{}, err
		}
		second, err := oauth.Exchange(ctx, "mail admin", "send")
		return relayed{Same: first.Value == second.Value}, err
	}))
	app.Add(ambit.Define(spec("relay.later"), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		later <- ctx
		return ambit.Empty{}, nil
	}))
	forbidden := spec("notes.purge", "notes:purge")
	forbidden.Permission = "notes:purge"
	app.Add(ambit.Define(forbidden, whoami))
	return app
}

// relay obtains a token for a call elsewhere, twice.
func relay(ctx context.Context, in relayIn) (relayed, error) {
	first, err := oauth.Exchange(ctx, in.Audience, "mail:send")
	if err != nil {
		return relayed{}, err
	}
	second, err := oauth.Exchange(ctx, in.Audience, "mail:send")
	if err != nil {
		return relayed{}, err
	}
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(first.Value, claims); err != nil {
		return relayed{}, err
	}
	subject, _ := claims["sub"].(string)
	audience, _ := claims["aud"].(string)
	var printed strings.Builder
	slog.New(slog.NewTextHandler(&printed, nil)).Info("got", "token", first)
	return relayed{subject, audience, first.Value == second.Value, printed.String()}, nil
}

// token signs a token for an endpoint; change may alter claims and header.
func (w *world) token(t testing.TB, path, scopes string, change ...func(claims jwt.MapClaims, header map[string]any)) string {
	t.Helper()
	claims, header := w.issuer.Claims("alice", w.url+path, scopes), map[string]any{}
	for _, c := range change {
		c(claims, header)
	}
	token, err := w.issuer.Token(claims, header)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// answer is what a client sees.
type answer struct {
	status    int
	challenge string
	header    http.Header
	body      string
}

// call calls a capability over HTTP.
func (w *world) call(t testing.TB, name, token string, change ...func(*http.Request)) answer {
	t.Helper()
	r := w.request(t, http.MethodPost, "/api/"+name, "", token)
	return w.send(t, r, change...)
}

// tool calls a tool over MCP.
func (w *world) tool(t testing.TB, name, token string, change ...func(*http.Request)) answer {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`
	r := w.request(t, http.MethodPost, "/mcp", body, token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return w.send(t, r, change...)
}

func (w *world) request(t testing.TB, method, path, body, token string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func (w *world) send(t testing.TB, r *http.Request, change ...func(*http.Request)) answer {
	t.Helper()
	for _, c := range change {
		c(r)
	}
	response, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, strings.Join(response.Header.Values("Www-Authenticate"), "\n"), response.Header, string(body)}
}

// data decodes the output of a call over HTTP.
func data[T any](t testing.TB, a answer) (out T) {
	t.Helper()
	var envelope struct {
		OK   bool `json:"ok"`
		Data T    `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || !envelope.OK {
		t.Fatalf("want an output, got %d %s", a.status, a.body)
	}
	return envelope.Data
}

func host(t testing.TB, address string) (port string) {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return port
}
