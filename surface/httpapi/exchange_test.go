package httpapi_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/exchangetest"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

var update = flag.Bool("update", false, "write the answers that came into testdata")

// TestExchanges sends the requests of testdata/exchanges and compares whole
// answers. An archive holds pairs of "NAME: request" and "NAME: answer"; its
// comment says what they have in common. Files whose name begins with "open"
// are for an API without authenticators, those with "keyed" for an application
// that keeps a record of idempotency keys.
func TestExchanges(t *testing.T) {
	t.Parallel()
	client().Run(t, "testdata/exchanges/*.txtar", func(t *testing.T, name string) http.Handler {
		var o ambit.Options
		options := withPeople()
		switch {
		case strings.HasPrefix(name, "open"):
			options = openToAll()
		case strings.HasPrefix(name, "keyed"):
			o.Ledger = idempotency.NewMemory(idempotency.Options{})
		}
		return newAPI(t, fixture(o), options)
	})
}

// client sends requests that name themselves.
func client() exchangetest.Client {
	return exchangetest.Client{
		Header: func(string) http.Header { return http.Header{"X-Request-Id": {"test"}} },
		Update: *update,
	}
}

// answer sends a request given as text and returns the answer as text.
func answer(t *testing.T, api http.Handler, text []byte) string {
	t.Helper()
	return client().Answer(t, api, text)
}

func render(recorder *httptest.ResponseRecorder) string { return exchangetest.Render(recorder) }
