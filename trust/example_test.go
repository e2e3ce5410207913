package trust_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// header believes what a proxy in front of the application has verified.
type proxyHeader struct{}

func (proxyHeader) Name() string { return "proxy" }

func (proxyHeader) Authenticate(r *http.Request) (*trust.Identity, error) {
	user := r.Header.Get("X-Verified-User")
	if user == "" {
		return nil, nil
	}
	return &trust.Identity{
		Principal: &ambit.Principal{Authority: "proxy", Subject: user, Unscoped: true},
		Ambient:   true, // the proxy keeps its session in a cookie
	}, nil
}

func (proxyHeader) Challenge(*http.Request) string { return "" }

// A guard with the application's own authenticator, as a surface uses it.
func Example() {
	app := ambit.New(ambit.Options{Name: "notes"})
	guard, err := trust.NewGuard(app, trust.Options{
		PublicURL:      "https://notes.example.com",
		Authenticators: []trust.Authenticator{proxyHeader{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest(http.MethodPost, "https://notes.example.com/api/notes/search", nil)
	r.Header.Set("X-Verified-User", "alice")
	identity, refused := guard.Admit(r)
	fmt.Println(identity.Principal.Subject, refused)

	r.Header.Set("Origin", "https://elsewhere.example")
	_, refused = guard.Admit(r)
	fmt.Println(refused.Code)
	// Output:
	// alice <nil>
	// cross_origin_blocked
}
