package apikey_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

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

// Keys in a file, which a program adds to and takes from while it serves. The
// command key does the same.
func ExampleFromStore() {
	folder, err := os.MkdirTemp("", "keys")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	store, err := apikey.OpenFile(filepath.Join(folder, "keys.json"))
	if err != nil {
		fmt.Println(err)
		return
	}
	keys := apikey.FromStore(store) // for trust.Options.Authenticators

	ctx, key := context.Background(), apikey.Generate()
	err = store.Add(ctx, apikey.Record{Name: "billing", Hash: apikey.Hash(key), Kind: "service", Created: time.Now()})
	fmt.Println(err)
	r := httptest.NewRequest(http.MethodPost, "https://orders.example/api/orders/find", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	identity, err := keys.Authenticate(r)
	fmt.Println(identity.Principal.Subject, err)
	// Output:
	// <nil>
	// billing <nil>
}
