package oauth_test

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// The issuer is killed and started again while calls with tokens come in, new ones and
// those that were seen: none of them is refused, and keys are fetched once.
func TestIssuerKilledUnderLoad(t *testing.T) {
	w := start(t, setting{})
	tokens := make([]string, 400)
	for i := range tokens {
		tokens[i] = w.token(t, "/api", "", func(claims jwt.MapClaims, _ map[string]any) { claims["sub"] = "user-" + strconv.Itoa(i) })
	}
	if got := w.call(t, "whoami", tokens[0]); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var next, refused atomic.Int64
	var senders sync.WaitGroup
	quarter := make(chan struct{}, 1)
	for range 8 {
		senders.Go(func() {
			for {
				n := int(next.Add(1))
				if n > 4*len(tokens) {
					return
				}
				if n == len(tokens) {
					quarter <- struct{}{} // the issuer goes while calls go on
				}
				r := w.request(t, http.MethodPost, "/api/whoami", "", tokens[n%len(tokens)])
				response, err := w.client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
					refused.Add(1)
				}
			}
		})
	}
	<-quarter
	w.issuer.Close()
	if err := w.issuer.Restart(); err != nil {
		t.Error(err)
	}
	senders.Wait()
	if got := refused.Load(); got != 0 {
		t.Errorf("%d calls with good tokens were refused", got)
	}
	if got := w.issuer.Hits("/keys"); got > 2 {
		t.Errorf("the keys were fetched %d times", got)
	}
}
