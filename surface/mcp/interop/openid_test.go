package interop_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// TestOpenIDProvider takes tokens of an authorization server that others have made,
// one of OpenID Connect: its metadata and keys are found, an access token signed by
// its key holds, and its ID tokens do not, although they name the right audience.
func TestOpenIDProvider(t *testing.T) {
	t.Parallel()
	const resource = "https://notes.example.com/mcp"
	provider, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Shutdown() })
	provider.ClientID = resource
	tokens, err := oauth.New(oauth.Options{
		Resources: []oauth.Resource{{URL: resource, Audiences: []string{resource}}},
		Issuers:   []oauth.Issuer{{URL: provider.Issuer(), AcceptJWT: true}},
		Loopback:  true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tokens.Close)
	session, err := provider.SessionStore.NewSession("openid profile", "nonce", mockoidc.DefaultUser(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := session.IDToken(provider.Config(), provider.Keypair, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	access, err := provider.Keypair.SignJWT(jwt.MapClaims{
		"iss": provider.Issuer(), "sub": "alice", "aud": resource, "exp": time.Now().Add(time.Hour).Unix(), "scope": "notes",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, token string
		want        bool
	}{{"access token", access, true}, {"ID token", id, false}} {
		r := httptest.NewRequest(http.MethodPost, resource, nil)
		r.Header.Set("Authorization", "Bearer "+test.token)
		identity, err := tokens.Authenticate(r)
		for ambit.CodeOf(err) == ambit.CodeUnavailable { // a busy machine makes the provider's keys late
			identity, err = tokens.Authenticate(r)
		}
		if got := err == nil && identity != nil; got != test.want {
			t.Errorf("%s: want taken %v, got %v: %v", test.name, test.want, got, err)
		}
	}
}
