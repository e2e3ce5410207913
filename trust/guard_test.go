package trust_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// newApp returns an application without capabilities that logs to nobody.
func newApp(o ambit.Options) *ambit.App {
	o.Name = "test"
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return ambit.New(o)
}

func newGuard(t *testing.T, o trust.Options) *trust.Guard {
	t.Helper()
	guard, err := trust.NewGuard(newApp(ambit.Options{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

// request returns a request that a client on this machine sent to localhost.
func request(adjust ...func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:8080/api/greet", nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})))
	for _, f := range adjust {
		f(r)
	}
	return r
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func host(name string) func(*http.Request) {
	return func(r *http.Request) { r.Host = name }
}

func overTLS(r *http.Request) { r.TLS = &tls.ConnectionState{} }

// to sets the address at which a connection arrived.
func to(address net.Addr) func(*http.Request) {
	return func(r *http.Request) {
		*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
	}
}

// codeOf returns the code of a refusal, "" for none.
func codeOf(e *ambit.Error) ambit.Code {
	if e == nil {
		return ""
	}
	return e.Code
}

func TestT28_Host(t *testing.T) {
	t.Parallel()
	const refused = ambit.CodeCrossOriginBlocked
	tests := []struct {
		name    string
		options trust.Options
		want    map[string]ambit.Code
	}{
		{"no list: the machine itself", trust.Options{}, map[string]ambit.Code{
			"localhost": "", "localhost:8080": "", "LocalHost:1": "", "127.0.0.1": "", "127.0.0.1:65000": "", "[::1]": "", "[::1]:8080": "",
			"": refused, "evil.example": refused, "localhost.evil.example": refused, "localhost.": refused, "127.0.0.2": refused,
			"::1": refused, "[::1": refused, "[localhost]": refused, "[::1]evil": refused, "localhost:80:80": refused, "localhost:http": refused,
			"localhost@evil.example": refused, " localhost": refused, "localhost/": refused, "0.0.0.0": refused,
		}},
		{"a list", trust.Options{Hosts: []string{"Notes.Example", "192.0.2.1", "2001:DB8::1"}}, map[string]ambit.Code{
			"notes.example": "", "NOTES.example:443": "", "192.0.2.1:8080": "", "[2001:db8::1]:8080": "",
			"localhost": refused, "a.notes.example": refused,
		}},
		{"a public URL", trust.Options{PublicURL: "https://Notes.Example:8443/app"}, map[string]ambit.Code{
			"notes.example:8443": "", "notes.example": "", "localhost": "", "evil.example": refused,
		}},
		{"a list and a public URL", trust.Options{PublicURL: "https://notes.example", Hosts: []string{"notes.internal"}}, map[string]ambit.Code{
			"notes.example": "", "notes.internal": "", "localhost": refused,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard, got := newGuard(t, tt.options), map[string]ambit.Code{}
			for name := range tt.want {
				_, e := guard.Admit(request(host(name)))
				got[name] = codeOf(e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("codes by Host (-want +got):\n%s", diff)
			}
		})
	}
}

func TestT28_Origin(t *testing.T) {
	t.Parallel()
	const blocked = ambit.CodeCrossOriginBlocked
	authorized := header("Authorization", "Token alice")
	tests := []struct {
		name    string
		options trust.Options
		adjust  []func(*http.Request)
		want    ambit.Code
	}{
		{"no page", trust.Options{}, nil, ""},
		{"own page", trust.Options{}, []func(*http.Request){header("Origin", "http://localhost:8080"), header("Sec-Fetch-Site", "same-origin")}, ""},
		{"address bar", trust.Options{}, []func(*http.Request){header("Sec-Fetch-Site", "none")}, ""},
		{"other page", trust.Options{}, []func(*http.Request){header("Origin", "https://evil.example")}, blocked},
		{"other port", trust.Options{}, []func(*http.Request){header("Origin", "http://localhost:3000")}, blocked},
		{"opaque origin", trust.Options{}, []func(*http.Request){header("Origin", "null")}, blocked},
		{"other scheme", trust.Options{}, []func(*http.Request){header("Origin", "chrome-extension://localhost:8080")}, blocked},
		{"two origins", trust.Options{}, []func(*http.Request){header("Origin", "http://localhost:8080", "http://localhost:8080")}, blocked},
		{"cross-site navigation", trust.Options{}, []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, blocked},
		{"same-site navigation", trust.Options{}, []func(*http.Request){header("Sec-Fetch-Site", "same-site")}, blocked},
		{"own page, but from elsewhere", trust.Options{}, []func(*http.Request){header("Origin", "http://localhost:8080"), header("Sec-Fetch-Site", "cross-site")}, blocked},
		{"plain page of a secure host", trust.Options{}, []func(*http.Request){header("Origin", "http://localhost:8080"), overTLS}, blocked},
		{"secure page behind a proxy", trust.Options{}, []func(*http.Request){header("Origin", "https://localhost:8080")}, ""},
		{"listed", trust.Options{Origins: []string{"https://App.example"}}, []func(*http.Request){header("Origin", "https://app.example"), header("Sec-Fetch-Site", "cross-site")}, ""},
		{"listed by another port", trust.Options{Origins: []string{"https://app.example:8443"}}, []func(*http.Request){header("Origin", "https://app.example")}, blocked},
		{"public", trust.Options{PublicURL: "https://notes.example"}, []func(*http.Request){host("notes.example"), header("Origin", "https://notes.example")}, ""},
		{"public, but plain", trust.Options{PublicURL: "https://notes.example"}, []func(*http.Request){host("notes.example"), header("Origin", "http://notes.example")}, blocked},
		{"another page with a credential", trust.Options{}, []func(*http.Request){authorized, header("Origin", "https://evil.example")}, ""},
		{"another page with a credential where origins are listed", trust.Options{ListedOrigins: true}, []func(*http.Request){authorized, header("Origin", "https://evil.example")}, blocked},
		{"own page with a credential where origins are listed", trust.Options{ListedOrigins: true}, []func(*http.Request){authorized, header("Origin", "http://localhost:8080")}, ""},
		{"Basic, which browsers send again by themselves", trust.Options{}, []func(*http.Request){header("Authorization", "Basic YTpi"), header("Origin", "https://evil.example")}, blocked},
		{"Digest", trust.Options{}, []func(*http.Request){header("Authorization", "dIGEST username=a"), header("Sec-Fetch-Site", "cross-site")}, blocked},
		{"Negotiate", trust.Options{}, []func(*http.Request){header("Authorization", "Negotiate YII="), header("Origin", "null")}, blocked},
		{"NTLM", trust.Options{}, []func(*http.Request){header("Authorization", "NTLM TlR"), header("Origin", "https://evil.example")}, blocked},
		{"Basic without anything", trust.Options{}, []func(*http.Request){header("Authorization", "Basic"), header("Origin", "https://evil.example")}, blocked},
		{"Basic beside a token", trust.Options{}, []func(*http.Request){header("Authorization", "Token alice", "Basic YTpi"), header("Origin", "https://evil.example")}, blocked},
		{"Basic by a listed page", trust.Options{Origins: []string{"https://app.example"}}, []func(*http.Request){header("Authorization", "Basic alice"), header("Origin", "https://app.example")}, ""},
		{"Basic by an own page", trust.Options{}, []func(*http.Request){header("Authorization", "Basic alice"), header("Origin", "http://localhost:8080")}, ""},
		{"Basic by a program", trust.Options{}, []func(*http.Request){header("Authorization", "Basic alice")}, ""},
		{"a scheme that begins like Basic", trust.Options{}, []func(*http.Request){header("Authorization", "Basics alice"), header("Origin", "https://evil.example")}, ambit.CodeUnauthenticated},
		{"cookies change nothing", trust.Options{}, []func(*http.Request){header("Cookie", "session=alice"), header("Origin", "https://evil.example")}, blocked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Authenticators = []trust.Authenticator{tokens("Token", "alice"), tokens("Basic", "alice")}
			_, e := newGuard(t, tt.options).Admit(request(tt.adjust...))
			if diff := cmp.Diff(tt.want, codeOf(e)); diff != "" {
				t.Errorf("code (-want +got):\n%s", diff)
			}
		})
	}
}

func TestT27_Connection(t *testing.T) {
	t.Parallel()
	loopback := &net.TCPAddr{IP: net.IPv6loopback, Port: 8080}
	public := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	with := []trust.Authenticator{tokens("Token", "alice")}
	tests := []struct {
		name        string
		options     trust.Options
		development bool
		address     net.Addr
		want        ambit.Code
	}{
		{"loopback", trust.Options{}, false, loopback, ""},
		{"another address type", trust.Options{}, false, textAddr("[::ffff:127.0.0.1]:80"), ""},
		{"public", trust.Options{}, false, public, ambit.CodeForbidden},
		{"a socket file", trust.Options{}, false, &net.UnixAddr{Name: "/run/app.sock", Net: "unix"}, ambit.CodeForbidden},
		{"no connection", trust.Options{}, false, nil, ambit.CodeForbidden},
		{"public, allowed", trust.Options{AllowUnauthenticated: true}, false, public, ""},
		{"no connection, allowed", trust.Options{AllowUnauthenticated: true}, false, nil, ""},
		{"public with authenticators", trust.Options{Authenticators: with}, false, public, ""},
		{"development, loopback", trust.Options{}, true, loopback, ""},
		{"development, public", trust.Options{Authenticators: with, AllowUnauthenticated: true}, true, public, ambit.CodeForbidden},
		{"development, no connection", trust.Options{Authenticators: with}, true, nil, ambit.CodeForbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard, err := trust.NewGuard(newApp(ambit.Options{Development: tt.development}), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			_, e := guard.Admit(request(to(tt.address)))
			if diff := cmp.Diff(tt.want, codeOf(e)); diff != "" {
				t.Errorf("code (-want +got):\n%s", diff)
			}
		})
	}
}

type textAddr string

func (textAddr) Network() string  { return "tcp" }
func (a textAddr) String() string { return string(a) }

func TestOptionsThatCannotWork(t *testing.T) {
	t.Parallel()
	alice := tokens("Token", "alice")
	tests := []struct {
		want    string
		options trust.Options
	}{
		{"Authenticators holds nil", trust.Options{Authenticators: []trust.Authenticator{nil}}},
		{"without a name", trust.Options{Authenticators: []trust.Authenticator{fake{}}}},
		{`two of the name "Token"`, trust.Options{Authenticators: []trust.Authenticator{alice, alice}}},
		{"Hosts holds \"\"", trust.Options{Hosts: []string{""}}},
		{"Hosts holds", trust.Options{Hosts: []string{"*"}}},
		{"Hosts holds", trust.Options{Hosts: []string{"localhost:8080"}}},
		{"Hosts holds", trust.Options{Hosts: []string{"https://localhost"}}},
		{"Hosts holds", trust.Options{Hosts: []string{"fe80::1%eth0"}}},
		{"Origins holds", trust.Options{Origins: []string{"*"}}},
		{"Origins holds", trust.Options{Origins: []string{"null"}}},
		{"Origins holds", trust.Options{Origins: []string{"app.example"}}},
		{"Origins holds", trust.Options{Origins: []string{"https://app.example/"}}},
		{"Origins holds", trust.Options{Origins: []string{"ftp://app.example"}}},
		{"PublicURL is", trust.Options{PublicURL: "notes.example"}},
		{"PublicURL is", trust.Options{PublicURL: "https://u@notes.example"}},
		{"PublicURL is", trust.Options{PublicURL: "https://notes.example?x"}},
	}
	for _, tt := range tests {
		guard, err := trust.NewGuard(newApp(ambit.Options{}), tt.options)
		if guard != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewGuard(%+v): want an error with %q, got %v", tt.options, tt.want, err)
		}
	}
	if _, err := trust.NewGuard(nil, trust.Options{}); err == nil {
		t.Error("NewGuard without an application: want an error, got none")
	}
}

// fake is an authenticator as a test needs it.
type fake struct {
	name         string
	authenticate func(*http.Request) (*trust.Identity, error)
	challenge    func() string
}

func (f fake) Name() string { return f.name }

// hinting is an authenticator that says in words what to send.
type hinting struct {
	fake
	hint string
}

func (h hinting) Hint() string { return h.hint }

func (f fake) Authenticate(r *http.Request) (*trust.Identity, error) { return f.authenticate(r) }

func (f fake) Challenge(*http.Request) string {
	if f.challenge == nil {
		return f.name
	}
	return f.challenge()
}

// tokens knows "Authorization: SCHEME SUBJECT" for one subject, and refuses
// every other one of its scheme.
func tokens(scheme, subject string) trust.Authenticator {
	return fake{name: scheme, authenticate: func(r *http.Request) (*trust.Identity, error) {
		token, mine := strings.CutPrefix(r.Header.Get("Authorization"), scheme+" ")
		switch {
		case !mine:
			return nil, nil
		case token != subject:
			return nil, errors.New("no such token")
		}
		return identity(subject), nil
	}}
}

func identity(subject string) *trust.Identity {
	return &trust.Identity{Principal: &ambit.Principal{Authority: "test", Subject: subject}}
}

// cookies knows the subject from a header that stands for a cookie.
func cookies(subject string) trust.Authenticator {
	return fake{name: "cookie", authenticate: func(r *http.Request) (*trust.Identity, error) {
		if r.Header.Get("X-Session") == "" {
			return nil, nil
		}
		found := identity(subject)
		found.Ambient = true
		return found, nil
	}}
}

// logged returns an application that logs into a buffer.
func logged() (*ambit.App, *bytes.Buffer) {
	var log bytes.Buffer
	return newApp(ambit.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}
