package oauth_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

const resourceURL = "https://notes.example.com/mcp"

// wire stands for the network: it answers from an issuer, or not at all.
type wire struct {
	issuer *issuertest.Issuer

	mu    sync.Mutex
	down  bool
	hang  bool
	hits  map[string]int
	other func(r *http.Request) (string, bool)
	after func(r *http.Request) // between the issuer's answer and its arrival
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	if w.hits == nil {
		w.hits = map[string]int{}
	}
	w.hits[r.URL.Path]++
	down, hang, other, after := w.down, w.hang, w.other, w.after
	w.mu.Unlock()
	switch {
	case down:
		return nil, errors.New("nobody answers")
	case hang:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if other != nil {
		if body, ok := other(r); ok {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}
	}
	recorder := httptest.NewRecorder()
	w.issuer.ServeHTTP(recorder, r)
	if after != nil {
		after(r)
	}
	return recorder.Result(), nil
}

// slow has the issuer take a second for every answer.
func slow(w *wire) {
	w.other = func(*http.Request) (string, bool) {
		time.Sleep(time.Second)
		return "", false
	}
}

func (w *wire) set(change func(*wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *wire) count(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[path]
}

// alone is an authenticator whose issuer is behind a wire.
type alone struct {
	*oauth.Authenticator
	wire *wire
}

func newAlone(t *testing.T, change func(*oauth.Options)) *alone {
	t.Helper()
	issuer, err := issuertest.Unserved("https://login.example.com")
	if err != nil {
		t.Fatal(err)
	}
	o := oauth.Options{
		Resources: []oauth.Resource{{URL: resourceURL, Audiences: []string{resourceURL}}},
		Issuers:   []oauth.Issuer{{URL: issuer.URL}},
		Logger:    slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&o)
	}
	a, err := oauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{issuer: issuer}
	a.SetTransport(w)
	return &alone{a, w}
}

func (a *alone) token(t *testing.T, change ...change) string {
	t.Helper()
	claims, header := a.wire.issuer.Claims("alice", resourceURL, ""), map[string]any{}
	for _, c := range change {
		c(claims, header)
	}
	token, err := a.wire.issuer.Token(claims, header)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// send presents a token, and returns "ok" or why it was refused.
func (a *alone) send(ctx context.Context, token string) string {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, resourceURL, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	identity, err := a.Authenticate(r)
	switch e, known := errors.AsType[*ambit.Error](err); {
	case err == nil && identity != nil:
		return "ok"
	case err == nil:
		return "not mine"
	case known:
		return string(e.Code)
	}
	return "invalid"
}

func (a *alone) want(t *testing.T, want, token string) {
	t.Helper()
	if got := a.send(t.Context(), token); got != want {
		t.Errorf("after %v: want %s, got %s", time.Since(start2000), want, got)
	}
}

// start2000 is when every bubble begins.
var start2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func longLived(claims jwt.MapClaims, _ map[string]any) {
	claims["exp"] = time.Now().Add(24 * time.Hour).Unix()
}

// T03: a key that the issuer takes back, or replaces, stops within a minute, whether
// the token was seen before or not, and after an hour without a request at once.
func TestT03_KeysTakenBack(t *testing.T) {
	for _, rhythm := range []time.Duration{time.Second, 20 * time.Second, 50 * time.Second, time.Hour} {
		t.Run(rhythm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, nil)
				defer a.Close()
				old := a.token(t, longLived)
				a.want(t, "ok", old)
				time.Sleep(10 * time.Second)
				a.want(t, "ok", old)
				if err := a.wire.issuer.Rotate(); err != nil {
					t.Fatal(err)
				}
				a.wire.issuer.Retire()
				taken := time.Now()
				a.want(t, "ok", a.token(t, longLived)) // the new key is fetched at once
				for a.send(t.Context(), old) == "ok" {
					if time.Since(taken) > 60*time.Second {
						t.Fatalf("the old key is good %v after it was taken back", time.Since(taken))
					}
					time.Sleep(rhythm)
				}
			})
		})
	}
}

// T03: a token that was seen is not good for longer than the keys that it was checked
// with: where others are there, it is checked again.
func TestT03_SeenTokenAndOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		old := a.token(t)
		a.want(t, "ok", old)
		if err := a.wire.issuer.Rotate(); err != nil {
			t.Fatal(err)
		}
		a.wire.issuer.Retire()
		a.want(t, "ok", old)
		a.want(t, "ok", a.token(t)) // whose key is fetched
		a.want(t, "invalid", old)
	})
}

// The keys are fetched as often as the limits say, however many tokens come.
func TestKeysFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		for range 600 {
			a.want(t, "ok", a.token(t))
			time.Sleep(time.Second)
		}
		if got := a.wire.count("/keys"); got > 21 || got < 19 {
			t.Errorf("want about 20 fetches in 10 minutes, got %d", got)
		}
		if got := a.wire.count("/.well-known/oauth-authorization-server"); got != 1 {
			t.Errorf("want the metadata fetched once, got %d", got)
		}
	})
}

// Who has used up what may be fetched for unknown keys does not have the tokens of a new
// key called invalid, for which clients would obtain others without end: they are told
// when to come again, and get in then.
func TestRotationAfterUnknownKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		old := a.token(t, longLived)
		a.want(t, "ok", old)
		time.Sleep(2 * time.Second)
		a.want(t, "invalid", a.token(t, header("kid", "nobody"))) // the set was fetched for it
		if err := a.wire.issuer.Rotate(); err != nil {
			t.Fatal(err)
		}
		a.wire.issuer.Retire()
		time.Sleep(time.Second)
		token := a.token(t, longLived)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, resourceURL, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		_, err := a.Authenticate(r)
		e, _ := errors.AsType[*ambit.Error](err)
		if e == nil || e.Code != ambit.CodeUnavailable || e.RetryAfter <= 0 || e.RetryAfter > 30*time.Second {
			t.Fatalf("want unavailable, and when to come again, got %v", err)
		}
		for range e.RetryAfter / time.Second {
			a.want(t, "unavailable", a.token(t, header("kid", "nobody-either")))
			time.Sleep(time.Second)
		}
		a.want(t, "ok", token)
		a.want(t, "invalid", old)
		if got := a.wire.count("/keys"); got > 4 { // at first, twice for unknown keys, once because they were old
			t.Errorf("the keys were fetched %d times in half a minute", got)
		}
	})
}

// Many requests at once, and no keys yet: one fetch, and all of them wait for it.
func TestKeysFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		token := a.token(t)
		a.wire.set(slow)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { a.want(t, "ok", token) })
		}
		all.Wait()
		if got := a.wire.count("/keys"); got != 1 {
			t.Errorf("want one fetch, got %d", got)
		}
	})
}

// Until keys were loaded once nobody can tell: 503, with few attempts. Then the last
// set is kept, and nobody waits for an issuer that does not answer.
func TestIssuerDown(t *testing.T) {
	for name, away := range map[string]func(*wire){
		"refuses": func(w *wire) { w.down = true },
		"hangs":   func(w *wire) { w.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, nil)
				defer a.Close()
				token := a.token(t, longLived)
				a.wire.set(away)
				for range 20 {
					a.want(t, "unavailable", token)
					time.Sleep(time.Second)
				}
				if got := a.wire.count("/.well-known/oauth-authorization-server"); got > 5 {
					t.Errorf("want few attempts, got %d", got)
				}
				a.wire.set(func(w *wire) { w.down, w.hang = false, false })
				time.Sleep(5 * time.Second)
				a.want(t, "ok", token)

				a.wire.set(away)
				time.Sleep(31 * time.Second)
				began := time.Now()
				a.want(t, "ok", a.token(t)) // while the keys are looked at
				if waited := time.Since(began); waited > 0 {
					t.Errorf("a good token waited %v for keys that are half a minute old", waited)
				}
				time.Sleep(time.Hour)
				a.want(t, "ok", token) // which waits once
				for range 600 {
					began := time.Now()
					a.want(t, "ok", a.token(t))
					if waited := time.Since(began); waited > 0 {
						t.Fatalf("a good token waited %v for an issuer that is down", waited)
					}
					time.Sleep(time.Second)
				}
				a.want(t, "unavailable", a.token(t, header("kid", "nobody"))) // which may be a new key
				a.want(t, "invalid", a.token(t, header("kid", "nobody"), claim("iat", start2000.Unix())))
				a.wire.set(func(w *wire) { w.down, w.hang = false, false })
				if err := a.wire.issuer.Rotate(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(6 * time.Second)
				a.want(t, "ok", a.token(t)) // of the new key
			})
		})
	}
}

// A set that holds nothing of use, or is none, does not replace one that is good.
func TestKeysThatAreNone(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON":             `<html>`,
		"another object":      `{}`,
		"no keys":             `{"keys":[]}`,
		"a secret":            `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"key-1"}]}`,
		"a key for secrets":   `{"keys":[{"kty":"EC","crv":"P-256","use":"enc","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`,
		"a huge key":          `{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 2800) + `","e":"AQAB"}]}`,
		"a small key":         `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`,
		"no point":            `{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}`,
		"a number for a key":  `{"keys":[1,null,"x"]}`,
		"the same name twice": `{"keys":[],"keys":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, nil)
				defer a.Close()
				a.want(t, "ok", a.token(t))
				a.wire.set(func(w *wire) {
					w.other = func(r *http.Request) (string, bool) { return body, r.URL.Path == "/keys" }
				})
				time.Sleep(10 * time.Minute)
				a.want(t, "ok", a.token(t))
				a.want(t, "ok", a.token(t))
			})
		})
	}
}

// Metadata counts for the issuer that it names.
func TestMetadataOfAnotherIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		a.wire.set(func(w *wire) {
			w.other = func(r *http.Request) (string, bool) {
				return `{"issuer":"https://evil.example.com","jwks_uri":"https://login.example.com/keys"}`, strings.HasPrefix(r.URL.Path, "/.well-known/")
			}
		})
		a.want(t, "unavailable", a.token(t))
		if got := a.wire.count("/keys"); got != 0 {
			t.Errorf("the keys were fetched %d times", got)
		}
	})
}

// An issuer with a path has its metadata where RFC 8414 says, or where OpenID Connect
// does.
func TestDiscovery(t *testing.T) {
	for _, place := range []string{
		"/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/openid-configuration", "/.well-known/openid-configuration/tenant",
	} {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const url = "https://login.example.com/tenant"
				a := newAlone(t, func(o *oauth.Options) { o.Issuers[0].URL = url })
				defer a.Close()
				a.wire.set(func(w *wire) {
					w.other = func(r *http.Request) (string, bool) {
						return `{"issuer":"` + url + `","jwks_uri":"https://login.example.com/keys"}`, r.URL.Path == place
					}
				})
				a.want(t, "ok", a.token(t, claim("iss", url)))
			})
		})
	}
}

// A closed authenticator fetches nothing, and knows what it knew.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		a.want(t, "ok", a.token(t))
		a.Close()
		a.Close()
		time.Sleep(50 * time.Minute)
		a.want(t, "ok", a.token(t))
		b := newAlone(t, nil)
		b.wire.set(func(w *wire) { w.hang = true })
		go func() {
			time.Sleep(time.Second)
			b.Close()
		}()
		b.want(t, "unavailable", b.token(t)) // and the fetch ends with it
	})
}
