package oauth_test

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/trust/oauth"
)

// The issuer is killed and started again while calls with tokens come in, new ones and
// those that were seen: none of them is refused, and keys are fetched once in their time.
func TestIssuerKilledUnderLoad(t *testing.T) {
	began, w := time.Now(), start(t, setting{})
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
	if got, most := w.issuer.Hits("/keys"), 2+int(time.Since(began)/oauth.FreshKeys); got > most {
		t.Errorf("the keys were fetched %d times, want at most %d", got, most)
	}
}

// The issuer is away for two minutes, in which its keys are to be looked at many times:
// calls go on, and none is refused.
func TestIssuerAwayUnderLoad(t *testing.T) {
	for name, away := range map[string]func(*wire){
		"refuses": func(w *wire) { w.down = true },
		"hangs":   func(w *wire) { w.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, nil)
				defer a.Close()
				a.want(t, "ok", a.token(t))
				var senders sync.WaitGroup
				for i := range 8 {
					seen := a.token(t, longLived)
					senders.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						for range 500 {
							a.want(t, "ok", seen)
							a.want(t, "ok", a.token(t))
							time.Sleep(500 * time.Millisecond)
						}
					})
				}
				const keys = "/keys"
				time.Sleep(time.Minute)
				before := a.wire.count(keys)
				a.wire.set(away)
				time.Sleep(2 * time.Minute)
				during := a.wire.count(keys)
				if during <= before+1 || during > before+25 {
					t.Errorf("want up to one fetch in 5 seconds of two minutes, got %d", during-before)
				}
				a.wire.set(func(w *wire) { w.down, w.hang = false, false })
				time.Sleep(11 * time.Second)
				if got := a.wire.count(keys); got == during {
					t.Error("nothing was fetched when the issuer was back")
				}
				senders.Wait()
			})
		})
	}
}
