package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/oauth"
)

func nobody(context.Context, string, oauth.Request) (*ambit.Principal, error) { return nil, nil }

func nobodyOf(context.Context, *oauth.Claims) (*ambit.Principal, error) { return nil, nil }

// What the default makes of a token: who, never what they may.
func TestDefaultPrincipal(t *testing.T) {
	w := start(t, setting{})
	key := func(subject string) string {
		return (&ambit.Principal{Authority: w.issuer.URL, Subject: subject}).Key()
	}
	for _, test := range []struct {
		name   string
		change change
		want   who
	}{
		{"scope", claim("scope", "a b"), who{Key: key("alice"), Client: "the-client", Kind: "user", Scopes: []string{"a", "b"}}},
		{
			"scp as a list", func(c jwt.MapClaims, _ map[string]any) { delete(c, "scope"); c["scp"] = []string{"a", "b"} },
			who{Key: key("alice"), Client: "the-client", Kind: "user", Scopes: []string{"a", "b"}},
		},
		{
			"azp", func(c jwt.MapClaims, _ map[string]any) { delete(c, "client_id"); c["azp"] = "other" },
			who{Key: key("alice"), Client: "other", Kind: "user"},
		},
		{"a client for itself", claim("sub", "the-client"), who{Key: key("the-client"), Client: "the-client", Kind: "service"}},
		{"roles", claim("roles", []string{"editor"}), who{Key: key("alice"), Client: "the-client", Kind: "user", Roles: []string{"editor"}}},
		{"permissions give none", claim("permissions", []string{"notes:purge"}), who{Key: key("alice"), Client: "the-client", Kind: "user"}},
		{"a tenant that was not configured", claim("tenant", "acme"), who{Key: key("alice"), Client: "the-client", Kind: "user"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, list := range []*[]string{&test.want.Scopes, &test.want.Roles, &test.want.Holds} {
				*list = append([]string{}, *list...)
			}
			got := data[who](t, w.call(t, "whoami", w.token(t, "/api", "", test.change)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// T01: an issuer speaks for the tenants that it lists, and for no other.
func TestT01_Tenants(t *testing.T) {
	for _, test := range []struct {
		name    string
		tenants []string
		claim   any
		want    int
	}{
		{"listed", []string{"acme"}, "acme", http.StatusOK},
		{"another", []string{"acme"}, "evil", http.StatusUnauthorized},
		{"none is the empty one", []string{"acme"}, nil, http.StatusUnauthorized},
		{"the empty one, listed", []string{"acme", ""}, nil, http.StatusOK},
		{"empty is not all", []string{""}, "acme", http.StatusUnauthorized},
		{"no list is the empty one", nil, nil, http.StatusOK},
		{"no list is not all", nil, "acme", http.StatusUnauthorized},
		{"no text", []string{"acme"}, []string{"acme"}, http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, setting{oauth: func(o *oauth.Options) { o.Issuers[0].TenantClaim, o.Issuers[0].Tenants = "org", test.tenants }})
			got := w.call(t, "whoami", w.token(t, "/api", "", claim("org", test.claim)))
			if got.status != test.want {
				t.Fatalf("want %d, got %d %s", test.want, got.status, got.body)
			}
			if test.want == http.StatusUnauthorized && !strings.Contains(got.challenge, `error="invalid_token"`) {
				t.Errorf("challenge %s", got.challenge)
			}
			if tenant, ok := test.claim.(string); ok && test.want == http.StatusOK {
				want := (&ambit.Principal{Tenant: tenant, Authority: w.issuer.URL, Subject: "alice"}).Key()
				if got := data[who](t, got).Key; got != want {
					t.Errorf("want %s, got %s", want, got)
				}
			}
		})
	}
}

// T01: one subject at two issuers is two principals.
func TestT01_TwoIssuers(t *testing.T) {
	other := newIssuer(t)
	w := start(t, setting{oauth: func(o *oauth.Options) { o.Issuers = append(o.Issuers, oauth.Issuer{URL: other.URL}) }})
	foreign, err := other.Token(other.Claims("alice", w.url+"/api", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := data[who](t, w.call(t, "whoami", w.token(t, "/api", ""))), data[who](t, w.call(t, "whoami", foreign))
	if mine.Key == theirs.Key {
		t.Errorf("both are %s", mine.Key)
	}
	// Neither signs for the other.
	forged, err := other.Token(w.issuer.Claims("alice", w.url+"/api", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.call(t, "whoami", forged); got.status != http.StatusUnauthorized {
		t.Errorf("one issuer's token by the other's key: %d %s", got.status, got.body)
	}
}

// The application's mapper decides what a token is worth, within what the issuer may.
func TestMapper(t *testing.T) {
	for _, test := range []struct {
		name   string
		mapper func(*oauth.Claims) (*ambit.Principal, error)
		want   int
	}{
		{"with permissions", func(c *oauth.Claims) (*ambit.Principal, error) {
			p := c.Principal()
			p.Permissions = []string{"notes:purge"}
			return p, nil
		}, http.StatusOK},
		{"nobody", func(*oauth.Claims) (*ambit.Principal, error) { return nil, nil }, http.StatusUnauthorized},
		{"an error", func(*oauth.Claims) (*ambit.Principal, error) { return nil, errors.New("no") }, http.StatusUnauthorized},
		{"a panic", func(*oauth.Claims) (*ambit.Principal, error) { panic("no") }, http.StatusUnauthorized},
		{"no subject", func(*oauth.Claims) (*ambit.Principal, error) { return &ambit.Principal{}, nil }, http.StatusUnauthorized},
		{"anonymous", func(*oauth.Claims) (*ambit.Principal, error) {
			return &ambit.Principal{Subject: "x", Kind: ambit.KindAnonymous}, nil
		}, http.StatusUnauthorized},
		{"another authority", func(*oauth.Claims) (*ambit.Principal, error) {
			return &ambit.Principal{Subject: "x", Authority: "apikey"}, nil
		}, http.StatusUnauthorized},
		{"another tenant", func(*oauth.Claims) (*ambit.Principal, error) {
			return &ambit.Principal{Subject: "x", Tenant: "acme"}, nil
		}, http.StatusUnauthorized},
		{"nobody knows", func(*oauth.Claims) (*ambit.Principal, error) { return nil, &ambit.Error{Code: ambit.CodeUnavailable} }, http.StatusServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, setting{oauth: func(o *oauth.Options) {
				o.Principal = func(_ context.Context, c *oauth.Claims) (*ambit.Principal, error) { return test.mapper(c) }
			}})
			got := w.call(t, "notes/purge", w.token(t, "/api", "notes:purge"))
			if got.status != test.want {
				t.Errorf("want %d, got %d %s", test.want, got.status, got.body)
			}
		})
	}
}

// An application's own verifier sees the request without its credentials, and every
// way in which it does not say who is calling is the same refusal.
func TestVerifier(t *testing.T) {
	var seen oauth.Request
	w := start(t, setting{oauth: func(o *oauth.Options) {
		o.Verify = func(_ context.Context, token string, r oauth.Request) (*ambit.Principal, error) {
			seen = r
			switch token {
			case "good":
				return &ambit.Principal{Subject: "bob", Unscoped: true}, nil
			case "narrow":
				return &ambit.Principal{Subject: "bob", Scopes: []string{"other"}}, nil
			case "bound":
				return &ambit.Principal{Subject: "bob", Unscoped: true, Claims: map[string]any{"cnf": map[string]any{"jkt": "x"}}}, nil
			case "tenant":
				return &ambit.Principal{Subject: "bob", Tenant: "acme"}, nil
			case "expired":
				return &ambit.Principal{Subject: "bob", Unscoped: true, Expires: time.Now().Add(-time.Second)}, nil
			case "stranger":
				return &ambit.Principal{Subject: "bob", Authority: "stdio"}, nil
			case "unnamed":
				return &ambit.Principal{}, nil
			case "error":
				return nil, errors.New("a secret reason")
			case "panic":
				panic("a secret reason")
			case "later":
				return nil, &ambit.Error{Code: ambit.CodeUnavailable}
			}
			return nil, nil
		}
	}})
	for token, want := range map[string]int{
		"good": 200, "narrow": 403, "bound": 401, "tenant": 401, "expired": 401, "stranger": 401, "unnamed": 401,
		"error": 401, "panic": 401, "later": 503, "nothing": 401,
	} {
		got := w.tool(t, "whoami", token, func(r *http.Request) { r.Header.Set("Dpop", "proof"); r.Header.Set("Cookie", "a=b") })
		if got.status != want || want == 401 && !strings.Contains(got.challenge, `error="invalid_token"`) {
			t.Errorf("%s: want %d, got %d %s", token, want, got.status, got.challenge)
		}
		if strings.Contains(got.body, "secret") {
			t.Errorf("%s: the answer tells why: %s", token, got.body)
		}
		if seen.Method != http.MethodPost || seen.Path != "/mcp" || !strings.Contains(string(seen.Body), `"tools/call"`) {
			t.Errorf("%s: the verifier saw %s %s %s", token, seen.Method, seen.Path, seen.Body)
		}
		for _, name := range []string{"Authorization", "Dpop", "Cookie"} {
			if seen.Header.Get(name) != "" {
				t.Errorf("%s: the verifier saw the header %s", token, name)
			}
		}
	}
	long := strings.Repeat(" ", 65<<10)
	got := w.send(t, w.request(t, http.MethodPost, "/api/whoami", long, "good"), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if !seen.TooLong || seen.Body != nil || got.status == http.StatusUnauthorized {
		t.Errorf("a long body: %d, TooLong %v with %d bytes", got.status, seen.TooLong, len(seen.Body))
	}
}
