package side

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// AmbitKeyless returns what [AmbitHTTP] does for a caller who is taken at their
// word. What keys add is the difference.
func AmbitKeyless() http.Handler {
	who := caller()
	who.Authority = "anybody"
	return ambitKnowing(&anybody{trust.Identity{Principal: who}})
}

// AmbitStoredKey returns what [AmbitHTTP] does with its key in a store.
func AmbitStoredKey() http.Handler { return ambitKnowing(StoredKey()) }

// FixedKey returns the authenticator of [AmbitHTTP].
func FixedKey() trust.Authenticator { return keyed().Authenticators[0] }

// StoredKey returns an authenticator that has [AmbitKey] in a store, which is asked
// once in 30 seconds.
func StoredKey() trust.Authenticator {
	who := caller()
	return apikey.FromStore(oneKey{record: apikey.Record{
		Name: who.Subject, Hash: apikey.Hash(AmbitKey), Kind: who.Kind.String(), Permissions: who.Permissions,
	}})
}

// ambitKnowing panics where the API cannot be built, which is a bug of the
// benchmark.
func ambitKnowing(a trust.Authenticator) http.Handler {
	app := newAmbit()
	app.Add(find("orders.find", permission).Bind(answer))
	handler, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{a}}})
	if err != nil {
		panic(fmt.Sprintf("the API can't be built: %v", err))
	}
	return handler
}

// anybody takes everyone for the same caller, and looks at nothing.
type anybody struct{ identity trust.Identity }

func (a *anybody) Name() string { return "anybody" }

func (a *anybody) Challenge(*http.Request) string { return "" }

func (a *anybody) Authenticate(*http.Request) (*trust.Identity, error) { return &a.identity, nil }

// oneKey is a store with one key.
type oneKey struct {
	apikey.Store
	record apikey.Record
}

func (s oneKey) ByHash(_ context.Context, hash string) (apikey.Record, bool, error) {
	return s.record, hash == s.record.Hash, nil
}
