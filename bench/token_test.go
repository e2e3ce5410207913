package bench_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

const tokenResource = "https://orders.example.com/api"

// manyTokens is more than are remembered as seen, so that one after the other, again
// and again, none of them is.
const manyTokens = 8500

// bearers are an issuer's tokens, and what it takes to check them by hand.
type bearers struct {
	auth   *oauth.Authenticator
	public *rsa.PublicKey
	tokens []string
}

// newBearers signs tokens with a key of 2048 bits, which takes a while.
func newBearers(tb testing.TB, count int) *bearers {
	tb.Helper()
	issuer, err := issuertest.New()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(issuer.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	issuer.SignWith(key, jwt.SigningMethodRS256)
	auth, err := oauth.New(oauth.Options{
		Resources: []oauth.Resource{{URL: tokenResource, Audiences: []string{tokenResource}}},
		Issuers:   []oauth.Issuer{{URL: issuer.URL}},
		Loopback:  true,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(auth.Close)
	made := &bearers{auth: auth, public: &key.PublicKey, tokens: make([]string, count)}
	var signers sync.WaitGroup
	step := runtime.NumCPU()
	for first := range step {
		signers.Go(func() {
			for i := first; i < count; i += step {
				made.tokens[i], _ = issuer.Token(issuer.Claims(fmt.Sprintf("user-%d", i), tokenResource, "orders:read orders:write"), nil)
			}
		})
	}
	signers.Wait()
	made.present(tb, made.request(), 0) // the keys are there
	return made
}

func (b *bearers) request() *http.Request {
	return httptest.NewRequest(http.MethodPost, tokenResource+"/order", nil)
}

// present has the authenticator look at a token.
func (b *bearers) present(tb testing.TB, r *http.Request, i int) {
	r.Header["Authorization"] = []string{"Bearer " + b.tokens[i%len(b.tokens)]}
	if identity, err := b.auth.Authenticate(r); err != nil || identity == nil {
		tb.Fatalf("a token does not hold: %v", err)
	}
}

// bare checks the signature of a token and nothing else.
func (b *bearers) bare(tb testing.TB, i int) {
	token := b.tokens[i%len(b.tokens)]
	end := strings.LastIndexByte(token, '.')
	signature, err := base64.RawURLEncoding.DecodeString(token[end+1:])
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token[:end]))
	if err := rsa.VerifyPKCS1v15(b.public, crypto.SHA256, sum[:], signature); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkToken is what it takes to find out whose access token it is: one signed by
// RS256 that was not seen before (new), beside its signature's check alone (bare), how
// many times as long the first takes as the second (ratio), and one that was seen
// (seen).
func BenchmarkToken(b *testing.B) {
	many := newBearers(b, manyTokens)
	next := 0
	b.Run("bare", func(b *testing.B) {
		meter(b)
		for b.Loop() {
			next++
			many.bare(b, next)
		}
	})
	b.Run("new", func(b *testing.B) {
		r := many.request()
		meter(b)
		for b.Loop() {
			next++
			many.present(b, r, next)
		}
	})
	// One after the other, so that both see the same weather.
	b.Run("ratio", func(b *testing.B) {
		r := many.request()
		var bare, whole []time.Duration
		for b.Loop() {
			next++
			began := time.Now()
			many.bare(b, next)
			between := time.Now()
			many.present(b, r, next)
			bare, whole = append(bare, between.Sub(began)), append(whole, time.Since(between))
		}
		b.ReportMetric(float64(median(whole))/float64(median(bare)), "x-bare")
	})
	b.Run("seen", func(b *testing.B) {
		r := many.request()
		many.present(b, r, 0)
		meter(b)
		for b.Loop() {
			many.present(b, r, 0)
		}
	})
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// TestToken sees to it that both ways to check a token of the benchmark find it good.
func TestToken(t *testing.T) {
	few := newBearers(t, 2)
	few.present(t, few.request(), 1)
	few.bare(t, 1)
}
