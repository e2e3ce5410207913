package oauth_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// What cannot work does not start, and says which setting it is and what would be
// right.
func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*oauth.Options)
		want   string // part of the error; "" for none
	}{
		{"as it should be", func(*oauth.Options) {}, ""},
		{"http on this machine", func(o *oauth.Options) { o.Resources[0].URL = "http://[::1]:8080/mcp" }, ""},
		{"the whole host", func(o *oauth.Options) { o.Resources[0].URL = "https://notes.example.com" }, ""},
		{"no resource", func(o *oauth.Options) { o.Resources = nil }, "Options.Resources is empty"},
		{"no issuer", func(o *oauth.Options) { o.Issuers = nil }, "Options.Issuers is empty"},
		{"no audience", func(o *oauth.Options) { o.Resources[0].Audiences = nil }, "Audiences is empty"},
		{"empty audience", func(o *oauth.Options) { o.Resources[0].Audiences = []string{""} }, "Audiences holds an empty text"},
		{"relative", func(o *oauth.Options) { o.Resources[0].URL = "/mcp" }, "is not absolute"},
		{"http", func(o *oauth.Options) { o.Resources[0].URL = "http://notes.example.com/mcp" }, "is not https"},
		{"slash at the end", func(o *oauth.Options) { o.Resources[0].URL += "/" }, "a path that is not clean"},
		{"slash alone", func(o *oauth.Options) { o.Resources[0].URL = "https://notes.example.com/" }, "a path that is not clean"},
		{"dots", func(o *oauth.Options) { o.Resources[0].URL = "https://notes.example.com/a/../mcp" }, "a path that is not clean"},
		{"escaped", func(o *oauth.Options) { o.Resources[0].URL += "%20" }, "an escaped path"},
		{"query", func(o *oauth.Options) { o.Resources[0].URL += "?a=b" }, "has a query or a fragment"},
		{"fragment", func(o *oauth.Options) { o.Resources[0].URL += "#a" }, "has a query or a fragment"},
		{"user", func(o *oauth.Options) { o.Resources[0].URL = "https://a@notes.example.com/mcp" }, "holds a user"},
		{"upper case", func(o *oauth.Options) { o.Resources[0].URL = "https://Notes.example.com/mcp" }, `which is "https://notes.example.com/mcp"`},
		{"default port", func(o *oauth.Options) { o.Resources[0].URL = "https://notes.example.com:443/mcp" }, `which is "https://notes.example.com/mcp"`},
		{"one resource twice", func(o *oauth.Options) { o.Resources = append(o.Resources, o.Resources[0]) }, "twice"},
		{"scope with a space", func(o *oauth.Options) { o.Resources[0].Scopes = []string{"a b"} }, `"a b" is no scope`},
		{"empty scope", func(o *oauth.Options) { o.Resources[0].MoreScopes = []string{""} }, "a scope is empty"},
		{"documentation", func(o *oauth.Options) { o.Resources[0].Documentation = "docs" }, "Documentation is no http"},
		{"binding", func(o *oauth.Options) { o.Resources[0].MTLS = 9 }, "MTLS is none of the bindings"},
		{"nonces and no proofs", func(o *oauth.Options) {
			o.Resources[0].DPoP, o.Resources[0].DPoPNonces = oauth.BindingRefused, true
		}, "DPoPNonces is set, and DPoP is refused"},
		{"alias with a scheme", func(o *oauth.Options) { o.Aliases = []string{"https://www.example.com"} }, "Options.Aliases"},
		{"issuer over http", func(o *oauth.Options) { o.Issuers[0].URL = "http://login.example.com" }, "cannot be reached"},
		{"issuer on this machine", func(o *oauth.Options) { o.Issuers[0].URL = "http://127.0.0.1:9000" }, "Options.Loopback"},
		{"issuer in a private network", func(o *oauth.Options) { o.Issuers[0].Keys = "https://10.0.0.7/keys" }, "Options.Networks"},
		{"issuer in a listed network", func(o *oauth.Options) {
			o.Issuers[0].Keys, o.Networks = "https://10.0.0.7:8443/keys", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
		}, ""},
		{"issuer with a query", func(o *oauth.Options) { o.Issuers[0].URL += "?a" }, "a query or a fragment"},
		{"one issuer twice", func(o *oauth.Options) { o.Issuers = append(o.Issuers, o.Issuers[0]) }, "twice"},
		{"symmetric algorithm", func(o *oauth.Options) { o.Issuers[0].Algorithms = []string{"HS256"} }, `Algorithms holds "HS256"`},
		{"no algorithm", func(o *oauth.Options) { o.Issuers[0].Algorithms = []string{"none"} }, `Algorithms holds "none"`},
		{"a tenant that cannot be", func(o *oauth.Options) { o.Issuers[0].Tenants = []string{"acme", "a\x00"} }, `Tenants holds "a\x00", which has control characters`},
		{"introspection without client", func(o *oauth.Options) { o.Issuers[0].Introspect = true }, "Client.ID is empty"},
		{"where to introspect, and not to", func(o *oauth.Options) { o.Issuers[0].IntrospectionURL = "https://login.example.com/i" }, "Introspect is not set"},
		{"where to exchange, and not as whom", func(o *oauth.Options) { o.Issuers[0].TokenURL = "https://login.example.com/t" }, "TokenURL is given"},
		{"secret of nobody", func(o *oauth.Options) { o.Issuers[0].Client.Secret = "x" }, "a secret and no ID"},
		{"keys and introspection", func(o *oauth.Options) {
			o.Issuers[0].Introspect, o.Issuers[0].Client.ID, o.Issuers[0].Keys = true, "c", "https://login.example.com/keys"
		}, "no key is used"},
		{"two that introspect", func(o *oauth.Options) {
			o.Issuers[0].Introspect, o.Issuers[0].Client.ID = true, "c"
			other := o.Issuers[0]
			other.URL += "/other"
			o.Issuers = append(o.Issuers, other)
		}, "has 2 that Introspect"},
		{"verifier and introspection", func(o *oauth.Options) {
			o.Issuers[0].Introspect, o.Issuers[0].Client.ID, o.Verify = true, "c", nobody
		}, "exclude each other"},
		{"verifier and mapper", func(o *oauth.Options) { o.Verify, o.Principal = nobody, nobodyOf }, "exclude each other"},
		{"T32: two instances that share no record of proofs", func(o *oauth.Options) { o.Instances = 2 }, "Options.Replays is not set"},
		{"two instances without proofs", func(o *oauth.Options) { o.Instances, o.Resources[0].DPoP = 2, oauth.BindingRefused }, ""},
		{"two instances that share one", func(o *oauth.Options) { o.Instances, o.Replays = 2, oauth.NewMemory() }, ""},
		{"two instances with nonces", func(o *oauth.Options) {
			o.Instances, o.Replays, o.Resources[0].DPoPNonces = 2, oauth.NewMemory(), true
		}, "Options.NonceKey is not set"},
		{"short key", func(o *oauth.Options) { o.NonceKey = []byte("short") }, "Options.NonceKey has 5 bytes"},
		{"less than no instance", func(o *oauth.Options) { o.Instances = -1 }, "Options.Instances is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := oauth.Options{
				Resources: []oauth.Resource{{URL: "https://notes.example.com/mcp", Audiences: []string{"https://notes.example.com/mcp"}}},
				Issuers:   []oauth.Issuer{{URL: "https://login.example.com"}},
			}
			test.change(&o)
			a, err := oauth.New(o)
			switch {
			case (err == nil) != (test.want == ""), err != nil && !strings.Contains(err.Error(), test.want):
				t.Errorf("want an error with %q, got %v", test.want, err)
			case err == nil:
				a.Close()
			}
		})
	}
}

// A secret is not printed with the options.
func TestT09_ClientSecret(t *testing.T) {
	client := oauth.Client{ID: "server", Secret: "canary"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, client); strings.Contains(got, "canary") {
			t.Errorf("%s prints %s", format, got)
		}
	}
	if got := client.LogValue().String(); got != "server" {
		t.Errorf("LogValue: %s", got)
	}
}

// All that is wrong is said at once.
func TestOptionsAllFaults(t *testing.T) {
	_, err := oauth.New(oauth.Options{Resources: []oauth.Resource{{URL: "mcp"}}, Instances: -1})
	for _, want := range []string{"is not absolute", "Audiences is empty", "Options.Issuers is empty", "Options.Instances"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
}

// T06: an authenticator goes by the scopes of the application that it is mounted on,
// and is none for two.
func TestT06_OneApplication(t *testing.T) {
	t.Parallel()
	w := start(t, setting{})
	other := ambit.New(ambit.Options{Name: "other", ImpliedScopes: map[string][]string{"all": {"notes"}}})
	_, err := trust.NewGuard(other, trust.Options{Authenticators: []trust.Authenticator{w.tokens}})
	if err == nil || !strings.Contains(err.Error(), "another application already") {
		t.Errorf("want an error that says so, got %v", err)
	}
}
