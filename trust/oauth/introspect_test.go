package oauth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

func introspecting(o *oauth.Options) {
	o.Issuers[0].Introspect = true
	o.Issuers[0].Client = oauth.Client{ID: issuertest.ClientID, Secret: issuertest.ClientSecret}
}

// T03: a token that the issuer takes back stops within a minute. It is asked about
// once a minute, and a made-up one as well.
func TestT03_RevokedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		token := a.token(t, longLived)
		for range 120 {
			a.want(t, "ok", token)
			a.want(t, "invalid", "made-up")
			time.Sleep(time.Second)
		}
		if got := a.wire.count("/introspect"); got != 4 {
			t.Errorf("want 2 questions about each of two tokens in 2 minutes, got %d", got)
		}
		a.want(t, "ok", token)
		a.wire.issuer.Revoke(token)
		revoked := time.Now()
		for a.send(t.Context(), token) == "ok" {
			time.Sleep(time.Second)
		}
		if after := time.Since(revoked); after > time.Minute {
			t.Errorf("the token was good for %v after it was revoked", after)
		}
	})
}

// T03: the minute of an answer begins with the question, however long the issuer took.
func TestT03_AnswerThatTookLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		token := a.token(t, longLived)
		a.wire.set(func(w *wire) {
			w.after = func(r *http.Request) {
				if r.URL.Path == "/introspect" {
					time.Sleep(4900 * time.Millisecond) // it has decided, and is on its way
				}
			}
		})
		began := time.Now()
		a.want(t, "ok", token)
		a.wire.issuer.Revoke(token)
		for a.send(t.Context(), token) == "ok" {
			if time.Since(began) > time.Minute {
				t.Fatalf("the token was good for %v after the issuer was asked", time.Since(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// What an issuer says of a token is held against it as the claims of a signed one.
func TestIntrospection(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"as it should be", func(map[string]any) {}, "ok"},
		{"without expiry", func(c map[string]any) { delete(c, "exp") }, "ok"},
		{"without issuer", func(c map[string]any) { delete(c, "iss") }, "ok"},
		{"not active", func(c map[string]any) { c["active"] = false }, "invalid"},
		{"active, in words", func(c map[string]any) { c["active"] = "true" }, "unavailable"},
		{"nothing about it", func(c map[string]any) { delete(c, "active") }, "unavailable"},
		{"another issuer", func(c map[string]any) { c["iss"] = "https://evil.example.com" }, "invalid"},
		{"expired", func(c map[string]any) { c["exp"] = time.Now().Add(-time.Second).Unix() }, "invalid"},
		{"another audience", func(c map[string]any) { c["aud"] = "https://other.example.com" }, "invalid"},
		{"no audience", func(c map[string]any) { delete(c, "aud") }, "invalid"},
		{"no subject", func(c map[string]any) { delete(c, "sub") }, "invalid"},
		{"bound to a key", func(c map[string]any) { c["cnf"] = map[string]any{"jkt": "x"} }, "invalid"},
		{"of type bearer", func(c map[string]any) { c["token_type"] = "bearer" }, "ok"},
		{"of type DPoP, bound to nothing", func(c map[string]any) { c["token_type"] = "DPoP" }, "invalid"},
		{"of type refresh token", func(c map[string]any) { c["token_type"] = "refresh_token" }, "invalid"},
		{"of a type that is no text", func(c map[string]any) { c["token_type"] = 1 }, "invalid"},
		{"says it is a bearer token", func(c map[string]any) { c["typ"] = "Bearer" }, "ok"},
		{"says it is a refresh token", func(c map[string]any) { c["typ"] = "Refresh" }, "invalid"},
		{"used as an access token", func(c map[string]any) { c["token_use"] = "access_token" }, "ok"},
		{"used as a refresh token", func(c map[string]any) { c["token_use"] = "refresh_token" }, "invalid"},
		{"used as an ID token", func(c map[string]any) { c["token_use"] = "id" }, "invalid"},
		{"an ID token of a login", func(c map[string]any) { c["nonce"], c["at_hash"] = "n", "h" }, "invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, introspecting)
				defer a.Close()
				claims := map[string]any{"active": true}
				for name, value := range a.wire.issuer.Claims("alice", resourceURL, "") {
					claims[name] = value
				}
				test.change(claims)
				body, err := json.Marshal(claims)
				if err != nil {
					t.Fatal(err)
				}
				a.wire.set(func(w *wire) {
					w.other = func(r *http.Request) (string, bool) { return string(body), r.URL.Path == "/introspect" }
				})
				a.want(t, test.want, "opaque")
			})
		})
	}
}

// Many requests with one token: one question. An issuer that is down: 503 for what is
// not known, and what is known goes on for its minute.
func TestIntrospectionDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		token := a.token(t)
		a.wire.set(slow)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { a.want(t, "ok", token) })
		}
		all.Wait()
		if got := a.wire.count("/introspect"); got != 1 {
			t.Errorf("want one question, got %d", got)
		}
		a.wire.set(func(w *wire) { w.down = true })
		time.Sleep(57 * time.Second) // 59 after the question, which took two
		a.want(t, "ok", token)
		a.want(t, "unavailable", "opaque")
		time.Sleep(time.Second)
		a.want(t, "unavailable", token)
	})
}

// A signed token that says that it is no access token is shown to no issuer, which
// may well call it active.
func TestIntrospectionOfOtherTokens(t *testing.T) {
	for _, test := range []struct {
		name   string
		change []change
		want   string
		asked  int
	}{
		{"an access token", nil, "ok", 1},
		{"an access token of no profile", []change{header("typ", "JWT")}, "ok", 1},
		{"an ID token", []change{header("typ", "JWT"), claim("nonce", "n"), claim("at_hash", "h")}, "invalid", 0},
		{"a refresh token", []change{header("typ", "JWT"), claim("typ", "Refresh")}, "invalid", 0},
		{"a logout token", []change{header("typ", "logout+jwt")}, "invalid", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, introspecting)
				defer a.Close()
				a.want(t, test.want, a.token(t, test.change...))
				if got := a.wire.count("/introspect"); got != test.asked {
					t.Errorf("want %d questions, got %d", test.asked, got)
				}
			})
		})
	}
}

// Who sends made-up tokens and does not wait leaves nothing behind: neither work for
// the issuer nor a line in front of others.
func TestT25_AbandonedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		a.want(t, "ok", a.token(t)) // the issuer is found
		before := a.wire.count("/introspect")
		a.wire.set(slow)
		var all sync.WaitGroup
		for i := range oauth.MaxQuestions {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				a.send(ctx, "made-up-"+strconv.Itoa(i))
			})
		}
		all.Wait()
		began := time.Now()
		a.want(t, "ok", a.token(t))
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("a good token waited %v", waited)
		}
		if got := a.wire.count("/introspect") - before; got != oauth.MaxAsked+1 {
			t.Errorf("want %d questions about made-up tokens and one about a good one, got %d in all", oauth.MaxAsked, got)
		}
	})
}

// However many wait with made-up tokens, a token that held a minute ago is asked about
// at once, and whoever finds the line full is told so at once.
func TestT25_MadeUpTokensInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		token := a.token(t)
		a.want(t, "ok", token)
		time.Sleep(61 * time.Second)
		a.wire.set(slow)
		var all sync.WaitGroup
		for i := range oauth.MaxQuestions {
			all.Go(func() { a.want(t, "invalid", "made-up-"+strconv.Itoa(i)) })
		}
		synctest.Wait()
		began := time.Now()
		a.want(t, "unavailable", "one-more")
		if waited := time.Since(began); waited > 0 {
			t.Errorf("who found the line full waited %v", waited)
		}
		a.want(t, "ok", token)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("a token that held a minute ago waited %v", waited)
		}
		all.Wait()
		a.want(t, "invalid", "one-more") // which was not forgotten with the line
	})
}

// A token that held keeps its place while the issuer is away.
func TestIntrospectionAfterAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		token := a.token(t)
		a.want(t, "ok", token)
		a.wire.set(func(w *wire) { w.down = true })
		time.Sleep(61 * time.Second)
		a.want(t, "unavailable", token)
		a.wire.set(func(w *wire) { w.down = false; w.other = nil })
		time.Sleep(5 * time.Second)
		a.wire.set(slow)
		var all sync.WaitGroup
		for i := range oauth.MaxQuestions {
			all.Go(func() { a.want(t, "invalid", "made-up-"+strconv.Itoa(i)) })
		}
		synctest.Wait()
		began := time.Now()
		a.want(t, "ok", token)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("waited %v", waited)
		}
		all.Wait()
	})
}

// Nothing that fails is fetched again within 5 seconds, however many tokens come.
func TestIssuerThatAnswersNonsense(t *testing.T) {
	for _, test := range []struct {
		name, path string
	}{
		{"metadata", "/.well-known/oauth-authorization-server"},
		{"introspection", "/introspect"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlone(t, introspecting)
				defer a.Close()
				a.wire.set(func(w *wire) {
					w.other = func(r *http.Request) (string, bool) { return "nonsense", r.URL.Path == test.path }
				})
				token := a.token(t)
				for range 3 {
					for range 100 {
						a.want(t, "unavailable", token)
					}
					time.Sleep(5 * time.Second)
				}
				if got := a.wire.count(test.path); got != 3 {
					t.Errorf("want 3 fetches in 15 seconds, got %d", got)
				}
				a.wire.set(func(w *wire) { w.other = nil })
				a.want(t, "ok", token)
			})
		})
	}
}

// Who waits for an issuer's metadata waits no longer than their request lasts.
func TestMetadataThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		a.wire.set(func(w *wire) { w.hang = true })
		began := time.Now()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if got := a.send(ctx, "token-"+strconv.Itoa(i)); got != "unavailable" {
					t.Errorf("want unavailable, got %s", got)
				}
			})
		}
		all.Wait()
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("waited %v", waited)
		}
		if got := a.wire.count("/.well-known/oauth-authorization-server"); got != 1 {
			t.Errorf("want one fetch, got %d", got)
		}
	})
}

// What is remembered of tokens has an end.
func TestRememberedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		a.wire.set(func(w *wire) {
			w.other = func(r *http.Request) (string, bool) { return `{"active":false}`, r.URL.Path == "/introspect" }
		})
		for i := range 3 * oauth.MaxSeen {
			a.send(t.Context(), "made-up-"+time.Duration(i).String())
		}
		if valid, answers := a.Seen(); valid != 0 || answers > 2*oauth.MaxSeen {
			t.Errorf("%d tokens and %d answers are remembered", valid, answers)
		}
	})
}

// API keys are shown to no issuer.
func TestKeysAreNotIntrospected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, introspecting)
		defer a.Close()
		a.want(t, "not mine", "ambit_qXJMyNnOtsdQTqvhVQmL9k88beX9JQ1k13jEVc")
		if got := a.wire.count("/introspect"); got != 0 {
			t.Errorf("%d keys were sent to the issuer", got)
		}
	})
}

// The issuer that has introspection is asked about its own signed tokens, and others
// are checked by their keys.
func TestIntrospectionBesideKeys(t *testing.T) {
	other := newIssuer(t)
	w := start(t, setting{oauth: func(o *oauth.Options) {
		introspecting(o)
		o.Issuers = append(o.Issuers, oauth.Issuer{URL: other.URL})
	}})
	token, err := other.Token(other.Claims("bob", w.url+"/api", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{"asked": w.token(t, "/api", ""), "checked": token} {
		if got := w.call(t, "whoami", token); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if asked, fetched := w.issuer.Hits("/introspect"), other.Hits("/keys"); asked != 1 || fetched != 1 {
		t.Errorf("asked %d times, fetched keys %d times: want one each", asked, fetched)
	}
	if got := w.call(t, "whoami", w.token(t, "/api", "", func(c jwt.MapClaims, _ map[string]any) { c["exp"] = time.Now().Add(-time.Minute).Unix() })); got.status != http.StatusUnauthorized {
		t.Errorf("expired: %d", got.status)
	}
}
