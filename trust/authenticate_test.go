package trust_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

func TestT02_OneCredential(t *testing.T) {
	t.Parallel()
	returns := func(name string, i *trust.Identity, err error) trust.Authenticator {
		return fake{name: name, authenticate: func(*http.Request) (*trust.Identity, error) { return i, err }}
	}
	panics := fake{name: "panics", authenticate: func(*http.Request) (*trust.Identity, error) { panic("secret of the server") }}
	// reaching is alice without a limit, but for what adjust says.
	reaching := func(adjust func(*ambit.Principal)) *trust.Identity {
		found := identity("alice")
		found.Principal.Unscoped = true
		if adjust != nil {
			adjust(found.Principal)
		}
		return found
	}
	scoped := reaching(func(p *ambit.Principal) { p.Scopes, p.Unscoped = []string{"read", "write"}, false })
	session := header("X-Session", "1")
	type list = []trust.Authenticator
	const anonymous, invalid = "anonymous", "unauthenticated"
	tests := []struct {
		name           string
		authenticators list
		adjust         []func(*http.Request)
		want           string
	}{
		{"no authenticators", nil, nil, anonymous},
		{"no authenticators, a credential", nil, []func(*http.Request){header("Authorization", "Token alice")}, invalid},
		{"none", list{tokens("Token", "alice")}, nil, anonymous},
		{"valid", list{tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "Token alice")}, "alice"},
		{"second in order", list{tokens("Token", "alice"), tokens("Other", "bob")}, []func(*http.Request){header("Authorization", "Other bob")}, "bob"},
		{"invalid", list{tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "Token mallory")}, invalid},
		{"invalid, never the next", list{tokens("Token", "alice"), returns("all", identity("bob"), nil)}, []func(*http.Request){header("Authorization", "Token mallory")}, invalid},
		{"invalid after a valid one", list{returns("all", identity("bob"), nil), tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "Token mallory")}, invalid},
		{"of nobody's scheme", list{tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "Basic YTpi")}, invalid},
		{"empty", list{tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "")}, invalid},
		{"two headers", list{tokens("Token", "alice")}, []func(*http.Request){header("Authorization", "Token alice", "Token alice")}, invalid},
		{"two who agree", list{returns("a", identity("alice"), nil), returns("b", identity("alice"), nil)}, nil, "alice"},
		{"two who disagree", list{returns("a", identity("alice"), nil), returns("b", identity("bob"), nil)}, nil, invalid},
		{"two of another reach: without a limit", list{returns("a", reaching(nil), nil), returns("b", scoped, nil)}, nil, invalid},
		{"two of another reach: in the other order", list{returns("b", scoped, nil), returns("a", reaching(nil), nil)}, nil, invalid},
		{"two of another reach: by client", list{returns("a", reaching(nil), nil), returns("b", reaching(func(p *ambit.Principal) { p.Client = "app" }), nil)}, nil, invalid},
		{"two of another reach: by kind", list{returns("a", reaching(nil), nil), returns("b", reaching(func(p *ambit.Principal) { p.Kind = ambit.KindAgent }), nil)}, nil, invalid},
		{"two of one reach, in other words", list{returns("a", scoped, nil), returns("b", reaching(func(p *ambit.Principal) { p.Scopes, p.Unscoped = []string{"write", "read", "read"}, false }), nil)}, nil, "alice"},
		{"ambient", list{cookies("alice")}, []func(*http.Request){session}, "alice"},
		{"ambient beside a header that nobody knows", list{cookies("alice")}, []func(*http.Request){session, header("Authorization", "Token x")}, invalid},
		{"ambient beside a header that agrees", list{cookies("alice"), tokens("Token", "alice")}, []func(*http.Request){session, header("Authorization", "Token alice")}, "alice"},
		{"ambient beside a header that does not", list{cookies("bob"), tokens("Token", "alice")}, []func(*http.Request){session, header("Authorization", "Token alice")}, invalid},
		{"an identity and an error", list{returns("both", identity("alice"), errors.New("no"))}, nil, invalid},
		{"a panic", list{panics}, nil, invalid},
		{"no principal", list{returns("a", &trust.Identity{}, nil)}, nil, invalid},
		{"an anonymous principal", list{returns("a", &trust.Identity{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}}, nil)}, nil, invalid},
		{"no subject", list{returns("a", &trust.Identity{Principal: &ambit.Principal{Authority: "test"}}, nil)}, nil, invalid},
		{"no authority", list{returns("a", &trust.Identity{Principal: &ambit.Principal{Subject: "alice"}}, nil)}, nil, invalid},
		{"a kind that does not exist", list{returns("a", &trust.Identity{Principal: &ambit.Principal{Authority: "test", Subject: "alice", Kind: 99}}, nil)}, nil, invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app, log := logged()
			guard, err := trust.NewGuard(app, trust.Options{Authenticators: tt.authenticators})
			if err != nil {
				t.Fatal(err)
			}
			got, refused := guard.Admit(request(tt.adjust...))
			who := ""
			switch {
			case refused != nil:
				who = string(refused.Code)
				if !strings.Contains(log.String(), "credential refused") {
					t.Errorf("the operator's log: want a refused credential, got %q", log)
				}
				if strings.Contains(refused.Message+refused.Hint, "secret of the server") {
					t.Errorf("the refusal shows what a panic said: %v", refused)
				}
			case got.Anonymous():
				who = anonymous
			default:
				who = got.Principal.Subject
			}
			if diff := cmp.Diff(tt.want, who); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
		})
	}
}

// TestT02_Hint holds that whoever shows no credential, or one that is not valid,
// is told the same in words.
func TestT02_Hint(t *testing.T) {
	t.Parallel()
	a, b := hinting{fake{name: "a"}, "Send A."}, hinting{fake{name: "b"}, "Send B."}
	silent := hinting{fake{name: "silent"}, ""}
	tests := []struct {
		name           string
		authenticators []trust.Authenticator
		want           string
	}{
		{"none says anything", []trust.Authenticator{fake{name: "plain"}, silent}, ""},
		{"one", []trust.Authenticator{fake{name: "plain"}, a, silent}, "Send A."},
		{"two", []trust.Authenticator{a, b}, "Send A. Or: Send B."},
	}
	for _, tt := range tests {
		guard := newGuard(t, trust.Options{Authenticators: tt.authenticators})
		_, invalid := guard.Admit(request(header("Authorization", "Unknown", "Twice")))
		got := []string{guard.Unauthenticated().Hint, invalid.Hint}
		if diff := cmp.Diff([]string{tt.want, tt.want}, got); diff != "" {
			t.Errorf("%s: hints without a credential and with one that is not valid (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestT02_Challenge(t *testing.T) {
	t.Parallel()
	app, log := logged()
	guard, err := trust.NewGuard(app, trust.Options{Authenticators: []trust.Authenticator{
		fake{name: `Bearer realm="a"`},
		fake{name: "none", challenge: func() string { return "" }},
		fake{name: "panics", challenge: func() string { panic("boom") }},
		fake{name: "DPoP"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := http.Header{}
	status := guard.Challenge(got, request(), nil, guard.Unauthenticated())
	want := http.Header{"Www-Authenticate": {`Bearer realm="a"`, "DPoP"}, "Access-Control-Expose-Headers": {"WWW-Authenticate"}}
	if status != http.StatusUnauthorized {
		t.Errorf("status: want 401, got %d", status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "challenge panicked") {
		t.Errorf("the operator's log: want the panic, got %q", log)
	}
	if !guard.Authenticates() || newGuard(t, trust.Options{}).Authenticates() {
		t.Error("Authenticates: want true with authenticators alone")
	}
	refusal := guard.Unauthenticated()
	if refusal.Code != ambit.CodeUnauthenticated || refusal.Message == "" {
		t.Errorf("Unauthenticated: want a complete error, got %+v", refusal)
	}
}
