package oauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// API keys and tokens at one endpoint: each authenticator knows its own and leaves the
// other's alone, in either order, and what neither knows is challenged by the one that
// has more to say.
func TestBesideKeys(t *testing.T) {
	key, stranger := apikey.Generate(), apikey.Generate()
	keys, err := apikey.New(apikey.Key{Name: "reporting", Secret: key, Principal: &ambit.Principal{Kind: ambit.KindService}})
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []struct {
		name   string
		keys   func(*trust.Options)
		tokens func(*oauth.Options)
	}{
		{"keys first", func(o *trust.Options) { o.Authenticators = append([]trust.Authenticator{keys}, o.Authenticators...) }, nil},
		{"tokens first", func(o *trust.Options) { o.Authenticators = append(o.Authenticators, keys) }, nil},
		{"introspected", func(o *trust.Options) { o.Authenticators = append(o.Authenticators, keys) }, introspecting},
		{"the application's verifier", func(o *trust.Options) { o.Authenticators = append(o.Authenticators, keys) }, func(o *oauth.Options) { o.Verify = nobody }},
	} {
		t.Run(order.name, func(t *testing.T) {
			w := start(t, setting{trust: order.keys, oauth: order.tokens})
			invalid := `Bearer error="invalid_token", resource_metadata="` + w.url + wellKnown + `/api"`
			for _, test := range []struct {
				name, token string
				status      int
				challenge   string
			}{
				{"a key", key, 200, ""},
				{"a key that is not known", stranger, 401, invalid},
				{"a token that is none", "nonsense", 401, invalid},
				{"nothing", "", 401, strings.Replace(invalid, `error="invalid_token", `, "", 1)},
			} {
				got := w.call(t, "whoami", test.token)
				if got.status != test.status || got.challenge != test.challenge {
					t.Errorf("%s: want %d %s\ngot %d %s", test.name, test.status, test.challenge, got.status, got.challenge)
				}
			}
			if got := w.call(t, "whoami", w.token(t, "/api", "")); (got.status == http.StatusOK) != (order.name != "the application's verifier") {
				t.Errorf("a token: %d %s", got.status, got.body)
			}
		})
	}
}
