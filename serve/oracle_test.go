package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/oauth"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// secrets are the names that must be the same as "absent" to who may not know of
// them: what is on no surface, what is on the other one, and what takes a
// permission that nobody has, where that hides, whatever else it would take: a
// signed request, scopes, a kind of caller, a key, or an input of another size. All
// names have one length, so that no answer may differ in its own, and are equally
// unlike all others.
var secrets = []string{"hidden", "inside", "beyond", "signed", "shared", "person", "keyful", "larger"}

const absent = "absent"

// oracle is an application that keeps secrets on one surface, or one of the same
// form without them.
func oracle(t *testing.T, surface ambit.Surface, withSecrets bool, options trust.Options) http.Handler {
	t.Helper()
	app := ambit.New(ambit.Options{
		Name: "oracle", HideForbidden: true, Logger: slog.New(slog.DiscardHandler),
		Limits: ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}}, // or callers hear of that alone
	})
	add := func(name string, expose ambit.Surface, permission string, change func(*ambit.Spec)) {
		spec := ambit.Spec{Name: name, Description: "Tests.", Effect: ambit.Read, Permission: permission, Expose: expose}
		change(&spec)
		app.Add(ambit.Define(spec, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	}
	both, plain := ambit.HTTP|ambit.MCP, func(*ambit.Spec) {}
	add("greet", both, ambit.Public, plain)
	add("notes.read", both, "notes:read", plain)
	add("notes.scoped", both, "notes:read", func(s *ambit.Spec) { s.Scopes = []string{"notes"} })
	if withSecrets {
		add("hidden.job", 0, "notes:read", plain)
		add("inside.job", both&^surface, "notes:read", plain)
		add("beyond.job", both, "root", plain)
		add("signed.job", both, "root", func(s *ambit.Spec) { s.AgentPolicy = ambit.RequireAgentOnce })
		add("shared.job", both, "root", func(s *ambit.Spec) { s.Scopes = []string{"notes:share"} })
		add("person.job", both, "root", func(s *ambit.Spec) { s.Callers = []ambit.Kind{ambit.KindUser} })
		add("keyful.job", both, "root", func(s *ambit.Spec) { s.Effect, s.Idempotent = ambit.Write, true })
		add("larger.job", both, "root", func(s *ambit.Spec) { s.MaxInput = 4 << 20 })
	}
	options.Refusals = ambit.Rate{Calls: ambit.Unlimited}
	handler, err := serve.Handler(app, serve.Options{Trust: options})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// credentials are what callers of every kind send.
func credentials(t *testing.T) (*apikey.Authenticator, map[string]string) {
	t.Helper()
	sent := map[string]string{
		"none": "", "wrong": "Bearer " + apikey.Generate(), "malformed": "Bearer ambit_x", "foreign": "Bearer eyJhbGciOiJub25lIn0.e30.", "basic": "Basic YTpi",
	}
	var keys []apikey.Key
	for name, p := range map[string]*ambit.Principal{
		"expired":   {Permissions: []string{"notes:read"}},
		"weak":      {},
		"unscoped":  {Permissions: []string{"notes:read"}},
		"scopeless": {Permissions: []string{"notes:read"}, Scopes: []string{}},
		"strong":    {Permissions: []string{"notes:read", "notes:write"}, Scopes: []string{"notes"}},
		"agent":     {Permissions: []string{"notes:read"}, Kind: ambit.KindAgent},
	} {
		secret := apikey.Generate()
		sent[name] = "Bearer " + secret
		key := apikey.Key{Name: name, Secret: secret, Principal: p}
		if name == "expired" {
			key.Expires = time.Unix(1, 0)
		}
		keys = append(keys, key)
	}
	a, err := apikey.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return a, sent
}

// tokens are what callers with access tokens send, and the authenticators of each
// application that takes them, with agents beside them.
func tokens(t *testing.T) (each func() trust.Options, sent map[string]string) {
	t.Helper()
	issuer, err := issuertest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(issuer.Close)
	const audience = "oracle"
	options := oauth.Options{
		Resources: []oauth.Resource{
			{URL: "http://localhost/mcp", Audiences: []string{audience}},
			{URL: "http://localhost/api", Audiences: []string{audience}},
		},
		Issuers: []oauth.Issuer{{URL: issuer.URL}},
		Principal: func(_ context.Context, c *oauth.Claims) (*ambit.Principal, error) {
			p := c.Principal()
			p.Permissions = c.Roles
			return p, nil
		},
		Loopback: true, Logger: slog.New(slog.DiscardHandler),
	}
	agents, err := webbotauth.New(webbotauth.Options{
		Agents: []webbotauth.Agent{{URL: "https://agent.example", Keys: []webbotauth.Key{webbotauth.GenerateKey().Public()}}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	token := func(scopes string, claims map[string]any) string {
		all := issuer.Claims("alice", audience, scopes)
		maps.Copy(all, claims)
		text, err := issuer.Token(all, nil)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + text
	}
	good := token("", nil)
	each = func() trust.Options {
		a, err := oauth.New(options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		// The issuer's keys are there before the first probe is, however often a busy
		// machine makes them late.
		r := httptest.NewRequest(http.MethodPost, "http://localhost/api/greet", nil)
		r.Header.Set("Authorization", good)
		for _, err = a.Authenticate(r); ambit.CodeOf(err) == ambit.CodeUnavailable; _, err = a.Authenticate(r) {
		}
		if err != nil {
			t.Fatal(err)
		}
		return trust.Options{Authenticators: []trust.Authenticator{a}, Agents: agents}
	}
	return each, map[string]string{
		"none": "", "wrong": "Bearer x", "expired": token("notes", map[string]any{"exp": 1}), "foreign": token("notes", map[string]any{"aud": "other"}),
		"weak": token("", nil), "scopeless": token("", map[string]any{"roles": "notes:read"}), "strong": token("notes notes:share", map[string]any{"roles": "notes:read"}),
	}
}

// probe is a request for what a name stands for, or for all that there is.
type probe struct {
	what, method, path, body string
	header                   map[string]string
}

// request returns the probe for a name and a credential.
func (p probe) request(name, authorization string) *http.Request {
	r := httptest.NewRequest(p.method, "http://localhost"+strings.ReplaceAll(p.path, "NAME", name), strings.NewReader(strings.ReplaceAll(p.body, "NAME", name)))
	r.Header.Set("X-Request-Id", "probe")
	for header, value := range p.header {
		r.Header.Set(header, strings.ReplaceAll(value, "NAME", name))
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

func httpProbes() []probe {
	const form = "application/x-www-form-urlencoded"
	var all []probe
	for _, path := range []string{"/api/NAME/job", "/api/NAME.job", "/api/NAME/job/", "/api/NAME/jo", "/api/NAME_job", "/api/%6eNAME/job"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "QUERY", "post"} {
			all = append(all, probe{what: "method", method: method, path: path})
		}
		for _, body := range []string{"", "{}", "{", `{"a":1}`, `[]`, `"` + strings.Repeat("a", trust.MaxAnonymousBody) + `"`} {
			for _, kind := range []string{"", "application/json", "text/plain", form} {
				all = append(all, probe{what: "body", method: "POST", path: path, body: body, header: map[string]string{"Content-Type": kind}})
			}
		}
		for header, value := range map[string]string{
			"Accept": "text/html", "Content-Encoding": "gzip", "Idempotency-Key": "k", "Ambit-Reason": "why", "Ambit-Mode": "plan", "Ambit-Confirmation": "x",
			"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Cookie": "session=1",
			"Access-Control-Request-Method": "POST", "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		} {
			all = append(all, probe{what: header, method: "POST", path: path, body: "{}", header: map[string]string{"Content-Type": "application/json", header: value}})
		}
		all = append(all, probe{what: "query", method: "POST", path: path + "?a=b", body: "{}", header: map[string]string{"Content-Type": "application/json"}})
	}
	for _, query := range []string{"", "?limit=1", "?query=NAME", "?cursor=x", "?schemas=1"} {
		all = append(all, probe{what: "list", method: "GET", path: "/api/" + query})
	}
	return all
}

// mcpProbes ask in every revision for what a name stands for, by every method that
// takes a name and by those that show what there is.
func mcpProbes() []probe {
	var all []probe
	post := func(what, body string, header ...string) {
		p := probe{what: what, method: "POST", path: "/mcp", body: body, header: map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		}}
		for i := 0; i+1 < len(header); i += 2 {
			p.header[header[i]] = header[i+1]
		}
		all = append(all, p)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, m := range []struct{ method, params, named string }{
		{"tools/call", `"name":"NAME_job","arguments":{}`, "NAME_job"},
		{"tools/call", `"name":"NAME.job","arguments":{}`, "NAME.job"},
		{"tools/call", `"name":"NAME_job"`, "NAME_job"},
		{"tools/call", `"name":"NAME_job","arguments":{"a":1}`, "NAME_job"},
		{"tools/call", `"name":"NAME_job","arguments":[]`, "NAME_job"},
		{"tools/call", `"name":"NAME_job","arguments":{}`, "other_job"},
		{"tools/call", `"name":"NAME_jo","arguments":{}`, "NAME_jo"},
		{"tools/call", `"name":"call_capability","arguments":{"name":"NAME.job","input":{}}`, "call_capability"},
		{"tools/list", "", ""},
		{"prompts/get", `"name":"NAME_job"`, "NAME_job"},
		{"prompts/list", "", ""},
		{"resources/read", `"uri":"ambit:NAME.job"`, "ambit:NAME.job"},
		{"resources/list", "", ""},
		{"resources/templates/list", "", ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"NAME_job"},"argument":{"name":"a","value":""}`, ""},
		{"initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"NAME","version":"1"}`, ""},
		{"server/discover", "", ""},
		{"ping", "", ""},
		{"NAME/job", "", ""},
	} {
		message := func(params string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"` + m.method + `","params":{` + params + `}}`
		}
		for _, revision := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} {
			post(m.method+" "+revision, message(m.params), "MCP-Protocol-Version", revision)
			post(m.method+" notified "+revision, strings.Replace(message(m.params), `"id":1,`, "", 1), "MCP-Protocol-Version", revision)
		}
		post(m.method+" batch", "["+message(m.params)+","+message(m.params)+"]", "MCP-Protocol-Version", "2025-03-26")
		modern := m.params + "," + meta
		if m.params == "" {
			modern = meta
		}
		post(m.method+" modern", message(modern), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", m.method, "Mcp-Name", m.named)
		post(m.method+" modern without headers", message(modern), "MCP-Protocol-Version", "2026-07-28")
		post(m.method+" modern in two minds", message(modern), "MCP-Protocol-Version", "2025-11-25", "Mcp-Method", m.method, "Mcp-Name", m.named)
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"} {
		all = append(all, probe{what: "method", method: method, path: "/mcp"})
	}
	return all
}

// answer is all that a caller gets.
func answer(handler http.Handler, r *http.Request) string {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	header := recorder.Header()
	var text bytes.Buffer
	fmt.Fprintln(&text, recorder.Code)
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name != "Date" && name != trust.RequestIDHeader {
			fmt.Fprintf(&text, "%s: %q\n", name, header[name])
		}
	}
	text.Write(cursor.ReplaceAllFunc(recorder.Body.Bytes(), func(sealed []byte) []byte { return bytes.Repeat([]byte("?"), len(sealed)) }))
	return text.String()
}

// cursor is what is sealed anew each time, and of which only the length can tell
// something.
var cursor = regexp.MustCompile(`"nextCursor":"[^"]*"`)

// TestT07_Oracle asks an application for its secrets in every way that there is,
// and wants to hear exactly what it hears of a name that does not exist, and what
// an application says that has no secrets.
func TestT07_Oracle(t *testing.T) {
	t.Parallel()
	keys, sent := credentials(t)
	t.Run("keys", func(t *testing.T) {
		testOracle(t, func() trust.Options { return trust.Options{Authenticators: []trust.Authenticator{keys}} }, sent)
	})
	t.Run("tokens", func(t *testing.T) {
		each, sent := tokens(t)
		testOracle(t, each, sent)
	})
}

// testOracle tests an application with secrets beside one without. Each has
// authenticators of its own.
func testOracle(t *testing.T, each func() trust.Options, sent map[string]string) {
	for _, surface := range []struct {
		name   string
		is     ambit.Surface
		probes []probe
	}{{"HTTP", ambit.HTTP, httpProbes()}, {"MCP", ambit.MCP, mcpProbes()}} {
		with, without := oracle(t, surface.is, true, each()), oracle(t, surface.is, false, each())
		for name, authorization := range sent {
			t.Run(surface.name+" "+name, func(t *testing.T) {
				t.Parallel()
				statuses := map[string]int{}
				for i, p := range surface.probes {
					want := answer(with, p.request(absent, authorization))
					status, _, _ := strings.Cut(want, "\n")
					statuses[status]++
					if diff := cmp.Diff(answer(without, p.request(absent, authorization)), want); diff != "" {
						t.Errorf("%s, probe %d: an application with secrets says more of nothing (-without +with):\n%s", p.what, i, diff)
					}
					for _, secret := range secrets {
						got := strings.ReplaceAll(answer(with, p.request(secret, authorization)), secret, absent)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("%s, probe %d: the answer tells that %q is there (-absent +%s):\n%s", p.what, i, secret, secret, diff)
						}
					}
				}
				// A probe that everybody is refused shows nothing: those who may come in
				// have to get further than those who may not.
				switch name {
				case "none", "wrong", "malformed", "foreign", "basic", "expired":
					if statuses["200"] > 5 || statuses["401"] < 50 {
						t.Errorf("want strangers to be challenged, got %v", statuses)
					}
				default:
					if statuses["401"] > 0 || statuses["404"] < 20 && statuses["200"] < 20 {
						t.Errorf("want answers behind the credential, got %v", statuses)
					}
				}
			})
		}
	}
}
