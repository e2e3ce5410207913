package apikey_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// Keys from code. A program takes the hash from its configuration; the key
// itself is with its caller alone.
func Example() {
	key := apikey.Generate()
	keys, err := apikey.New(apikey.Key{
		Name: "reporting", Hash: apikey.Hash(key),
		Principal: &ambit.Principal{Kind: ambit.KindService, Permissions: []string{"orders:read"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	options := trust.Options{Authenticators: []trust.Authenticator{keys}}
	_ = options // for serve.Options or a surface

	r := httptest.NewRequest(http.MethodPost, "https://orders.example/api/orders/find", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	identity, err := keys.Authenticate(r)
	fmt.Println(identity.Principal.Authority, identity.Principal.Subject, err)
	// Output:
	// apikey reporting <nil>
}
