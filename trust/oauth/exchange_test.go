package oauth_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/issuertest"
	"github.com/ambit-dev/ambit/trust/oauth"
)

func exchanging(o *oauth.Options) {
	o.Issuers[0].Client = oauth.Client{ID: issuertest.ClientID, Secret: issuertest.ClientSecret}
}

// relayTo calls the capability that needs a token elsewhere.
func (w *world) relayTo(t *testing.T, token, audience string) answer {
	t.Helper()
	return w.send(t, w.request(t, http.MethodPost, "/api/relay", `{"audience":"`+audience+`"}`, token),
		func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
}

// T32: a handler gets a token of its own, for who is calling, once in a request; the
// one that came in goes nowhere but to its issuer.
func TestT32_Exchange(t *testing.T) {
	w := start(t, setting{oauth: exchanging})
	token := w.token(t, "/api", "")
	got := data[relayed](t, w.relayTo(t, token, "https://mail.example.com"))
	printed := got.Printed
	got.Printed = ""
	if diff := cmp.Diff(relayed{Subject: "alice", Audience: "https://mail.example.com", Same: true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(printed, "token=oauth.Token\n") {
		t.Errorf("a token prints as %q", printed)
	}
	if got := w.issuer.Hits("/token"); got != 1 {
		t.Errorf("want one exchange in the request, got %d", got)
	}
	data[relayed](t, w.relayTo(t, token, "https://mail.example.com"))
	if got := w.issuer.Hits("/token"); got != 2 {
		t.Errorf("want another exchange in another request, got %d in all", got)
	}
	if strings.Contains(w.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// T32: a token is for the audience and the scopes that were asked for, however they
// are written.
func TestT32_ExchangeApart(t *testing.T) {
	w := start(t, setting{oauth: exchanging})
	if got := data[relayed](t, w.call(t, "relay/both", w.token(t, "/api", ""))); got.Same || w.issuer.Hits("/token") != 2 {
		t.Errorf("want two tokens, got the same: %t, %d exchanges", got.Same, w.issuer.Hits("/token"))
	}
}

// Without a token of a request there is nothing to exchange.
func TestExchangeRefused(t *testing.T) {
	others := start(t, setting{oauth: exchanging})
	got := others.send(t, others.request(t, http.MethodPost, "/api/relay/others", `{"audience":"x"}`, others.token(t, "/api", "")),
		func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if got := data[relayed](t, got).Printed; got != string(ambit.CodeForbidden) || others.issuer.Hits("/token") != 0 {
		t.Errorf("for another principal: want forbidden without an exchange, got %q", got)
	}
	notRegistered := start(t, setting{})
	if got := notRegistered.relayTo(t, notRegistered.token(t, "/api", ""), "x"); got.status != http.StatusForbidden {
		t.Errorf("no client: want 403, got %d %s", got.status, got.body)
	}
	w := start(t, setting{oauth: exchanging})
	if got := w.relayTo(t, w.token(t, "/api", ""), ""); got.status != http.StatusForbidden {
		t.Errorf("no audience: want 403, got %d %s", got.status, got.body)
	}
	token := w.token(t, "/api", "")
	w.call(t, "whoami", token) // the issuer's keys are there
	w.issuer.Close()
	if got := w.relayTo(t, token, "x"); got.status != http.StatusBadGateway || strings.Contains(got.body, "127.0.0.1") {
		t.Errorf("issuer down: want 502 without internals, got %d %s", got.status, got.body)
	}
	if err := w.issuer.Restart(); err != nil {
		t.Fatal(err)
	}
	w.issuer.Revoke(token)
	if got := w.relayTo(t, token, "x"); got.status != http.StatusBadGateway {
		t.Errorf("refused by the issuer: want 502, got %d %s", got.status, got.body)
	}
	// In-process, and outside of any call.
	app := newApp(nil, nil, nil)
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "test", Subject: "a"}})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "relay", Input: []byte(`{"audience":"x"}`)}); ambit.CodeOf(err) != ambit.CodeForbidden {
		t.Errorf("in-process: want forbidden, got %v", err)
	}
	if _, err := oauth.Exchange(context.Background(), "x"); ambit.CodeOf(err) != ambit.CodeForbidden {
		t.Errorf("outside: want forbidden, got %v", err)
	}
}

// T32: with its request a token is gone, for work that a handler leaves behind too.
func TestT32_ExchangeAfterRequest(t *testing.T) {
	w := start(t, setting{oauth: exchanging})
	if got := w.call(t, "relay/later", w.token(t, "/api", "")); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	ctx := <-w.later
	<-ctx.Done()
	if _, err := oauth.Exchange(context.WithoutCancel(ctx), "x"); ambit.CodeOf(err) != ambit.CodeForbidden {
		t.Errorf("want forbidden, got %v", err)
	}
	if got := w.issuer.Hits("/token"); got != 0 {
		t.Errorf("%d tokens were exchanged", got)
	}
}

// T32: what an issuer answers is a token of its own, and a bearer token, or nothing.
func TestT32_ExchangeAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(token string) string
		want   int
	}{
		"a token":               {func(string) string { return `{"access_token":"eyJhbGciOiJFUzI1NiJ9.e30.e30","token_type":"bearer"}` }, 200},
		"the token that came":   {func(token string) string { return `{"access_token":"` + token + `","token_type":"Bearer"}` }, 502},
		"of another type":       {func(string) string { return `{"access_token":"eyJhbGciOiJFUzI1NiJ9.e30.e30","token_type":"N_A"}` }, 502},
		"without a type":        {func(string) string { return `{"access_token":"eyJhbGciOiJFUzI1NiJ9.e30.e30"}` }, 502},
		"without a token":       {func(string) string { return `{"token_type":"Bearer"}` }, 502},
		"no object":             {func(string) string { return `[]` }, 502},
		"a token and then more": {func(string) string { return `{"access_token":"eyJhbGciOiJFUzI1NiJ9.e30.e30","token_type":"Bearer"} x` }, 502},
	} {
		t.Run(name, func(t *testing.T) {
			issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, test.answer(r.PostFormValue("subject_token")))
			}))
			defer issuer.Close()
			w := start(t, setting{oauth: func(o *oauth.Options) { exchanging(o); o.Issuers[0].TokenURL = issuer.URL }})
			if got := w.relayTo(t, w.token(t, "/api", ""), "x"); got.status != test.want {
				t.Errorf("want %d, got %d %s", test.want, got.status, got.body)
			}
		})
	}
}
