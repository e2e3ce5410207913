package side

import (
	"fmt"
	"net/http"

	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// AmbitKey is the API key that Ambit's sides ask for. It is fixed, so that a
// client in another process can send it, and opens nothing but a benchmark.
const AmbitKey = "ambit_fk9Kdj93LhxcTpy9I6Zbzw7aTqZNyPGy17bweJ"

// AmbitPath is where [AmbitHTTP] serves the workload's operation.
const AmbitPath = "/api/orders/find"

// AmbitHTTP returns Ambit's JSON API as an application would serve it: callers
// show an API key, hold a permission, and an observer sees every call. It panics
// where that cannot be built, which is a bug of the benchmark.
func AmbitHTTP() http.Handler {
	app := newAmbit()
	app.Add(find("orders.find", permission).Bind(answer))
	handler, err := httpapi.New(app, httpapi.Options{Trust: keyed()})
	if err != nil {
		panic(fmt.Sprintf("the API can't be built: %v", err))
	}
	return handler
}

// keyed lets in who sends [AmbitKey]. It panics if that is not a key.
func keyed() trust.Options {
	keys, err := apikey.New(apikey.Key{Name: "worker", Secret: AmbitKey, Principal: caller()})
	if err != nil {
		panic(fmt.Sprintf("the key can't be used: %v", err))
	}
	return trust.Options{Authenticators: []trust.Authenticator{keys}}
}
