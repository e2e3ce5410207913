package webbotauth_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// What the signer signs verifies, at the level that it was asked for.
func TestSignerAndVerifierAgree(t *testing.T) {
	key := webbotauth.GenerateKey()
	for _, level := range []ambit.AgentLevel{ambit.AgentIdentified, ambit.AgentRequest, ambit.AgentOnce} {
		for _, request := range []struct{ method, url, body string }{
			{"GET", "https://app.test/api/notes.find", ""},
			{"GET", "https://APP.test:443/api/notes.find?q=a%20b&x", ""},
			{"POST", "https://app.test/api/notes.purge?", `{"prefix":"Old"}`},
			{"POST", "https://app.test/a%2Fb", ""},
			{"POST", "https://app.test", "{}"},
		} {
			r := outgoing(t, request.method, request.url, request.body)
			r.Header.Set("Authorization", "Bearer x")
			r.Header.Set("Idempotency-Key", "k")
			r.Header.Set("Ambit-Reason", "because")
			if err := signer(t, key, level).Sign(r); err != nil {
				t.Fatal(err)
			}
			at, body := arrive(t, r)
			got := judge(t, verifier(t, key), at, body)
			if diff := cmp.Diff(verdict{agentID, level.String(), "verified"}, got); diff != "" {
				t.Errorf("%s %s %s (-want +got):\n%s", level, request.method, request.url, diff)
			}
		}
	}
}

// From the level of the request up, each of these has to be covered; what is
// left out lowers the level, and what is changed afterwards ends the signature.
func TestT31_Coverage(t *testing.T) {
	key := webbotauth.GenerateKey()
	full := []string{"@method", "@authority", "@path", "@query", "content-digest", "authorization", "cookie", "dpop", "idempotency-key", "ambit-confirmation", "ambit-mode", "mcp-session-id", "mcp-method"}
	sign := func(t *testing.T, names []string) *http.Request {
		t.Helper()
		r := outgoing(t, "POST", "https://app.test/mcp?x=1", `{"a":1}`)
		r.Header.Set("Content-Digest", messagesig.Digest([]byte(`{"a":1}`)))
		for _, name := range full {
			if name[0] != '@' && name != "content-digest" {
				r.Header.Set(name, "value of "+name)
			}
		}
		r.Header.Set("User-Agent", "whatever")
		list := []messagesig.Component{{Name: "signature-agent", Key: "sig1"}}
		for _, name := range names {
			list = append(list, messagesig.Component{Name: name})
		}
		if err := signer(t, key, ambit.AgentOnce).SignWith(r, list...); err != nil {
			t.Fatal(err)
		}
		return r
	}
	v := verifier(t, key)
	level := func(t *testing.T, r *http.Request) string {
		t.Helper()
		at, body := arrive(t, r)
		return judge(t, v, at, body).Level
	}

	if got := level(t, sign(t, full)); got != "once" {
		t.Errorf("all covered: level %s, want once", got)
	}
	whole := append([]string{"@method", "@target-uri"}, full[4:]...)
	if got := level(t, sign(t, whole)); got != "once" {
		t.Errorf("the target covered as a whole: level %s, want once", got)
	}
	for i, name := range full {
		rest := append(append([]string{}, full[:i]...), full[i+1:]...)
		want := "identity"
		if name == "@authority" {
			want = "none" // the draft's own minimum
		}
		if got := level(t, sign(t, rest)); got != want {
			t.Errorf("%s not covered: level %s, want %s", name, got, want)
		}
		changed := sign(t, full)
		switch {
		case name == "@method":
			changed.Method = http.MethodPut
		case name == "@authority":
			changed.Host = "b.app.test"
		case name == "@path":
			changed.URL.Path = "/api"
		case name == "@query":
			changed.URL.RawQuery = ""
		default:
			changed.Header.Add(name, "another")
		}
		if got := level(t, changed); got != "none" {
			t.Errorf("%s changed: level %s, want none", name, got)
		}
		if name[0] == '@' {
			continue
		}
		gone := sign(t, full)
		gone.Header.Del(name)
		if got := level(t, gone); got != "none" {
			t.Errorf("%s removed: level %s, want none", name, got)
		}
	}
	for _, name := range []string{"Ambit-Other", "Mcp-Protocol-Version"} {
		added := sign(t, full)
		added.Header.Set(name, "x")
		if got := level(t, added); got != "identity" {
			t.Errorf("%s added: level %s, want identity", name, got)
		}
	}
	body := sign(t, full)
	at, _ := arrive(t, body)
	if got := judge(t, v, at, []byte(`{"a":2}`)); got != (verdict{"", "none", "invalid/content-digest-mismatch"}) {
		t.Errorf("another body: %+v", got)
	}
}

// A body that comes without a digest that is covered is bound by nothing, also
// where the request did not say that there would be one.
func TestT31_BodyThatIsNotCovered(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	for _, length := range []int64{0, -1, 2} {
		r := outgoing(t, "POST", "https://app.test/api/x", "")
		if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
			t.Fatal(err)
		}
		at, _ := arrive(t, r)
		at.ContentLength = length
		if got := judge(t, v, at, []byte("{}")); got.Level != "identity" {
			t.Errorf("Content-Length %d: level %s, want identity", length, got.Level)
		}
	}
}

func TestT31_Once(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key)
	r := outgoing(t, "POST", "https://app.test/api/x", "{}")
	if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
		t.Fatal(err)
	}
	at, body := arrive(t, r)
	if got := judge(t, v, at, body); got != (verdict{agentID, "once", "verified"}) {
		t.Errorf("first: %+v", got)
	}
	if got := judge(t, v, at, body); got != (verdict{"", "none", "invalid/replayed"}) {
		t.Errorf("again: %+v", got)
	}

	// A request that does not hold uses no nonce up.
	r = outgoing(t, "POST", "https://app.test/api/x", "{}")
	if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
		t.Fatal(err)
	}
	at, body = arrive(t, r)
	if got := judge(t, v, at, []byte("[]")); got.Outcome != "invalid/content-digest-mismatch" {
		t.Errorf("another body: %+v", got)
	}
	if got := judge(t, v, at, body); got.Level != "once" {
		t.Errorf("after a forged one: %+v", got)
	}
}

type nonces func(agent, nonce string, until time.Time) (bool, error)

func (n nonces) Record(_ context.Context, agent, nonce string, until time.Time) (bool, error) {
	return n(agent, nonce, until)
}

func TestNonceRecordThatDoesNotAnswer(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := verifier(t, key, func(o *webbotauth.Options) {
		o.Nonces = nonces(func(string, string, time.Time) (bool, error) { return true, errors.New("down") })
	})
	for _, test := range []struct {
		level, want ambit.AgentLevel
		unavailable bool
	}{{ambit.AgentOnce, ambit.AgentRequest, true}, {ambit.AgentRequest, ambit.AgentRequest, false}} {
		r := outgoing(t, "POST", "https://app.test/api/x", "{}")
		if err := signer(t, key, test.level).Sign(r); err != nil {
			t.Fatal(err)
		}
		at, body := arrive(t, r)
		signed := v.Verify(at)
		got := signed.Settle(at.Context(), body)
		want := ambit.AgentIdentity{URL: agentID, Key: key.Public().Thumbprint(), Level: test.want, OnceUnavailable: test.unavailable}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.level, diff)
		}
	}
}

// The record is asked for one agent and key, until the signature has ended on
// every instance, and never for what was not signed.
func TestWhatIsRecorded(t *testing.T) {
	key := webbotauth.GenerateKey()
	var got []string
	var left time.Duration
	v := verifier(t, key, func(o *webbotauth.Options) {
		o.Nonces = nonces(func(agent, nonce string, until time.Time) (bool, error) {
			got = append(got, agent)
			left = time.Until(until)
			return len(nonce) >= 16, nil
		})
	})
	r := outgoing(t, "GET", "https://app.test/api/x", "")
	if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
		t.Fatal(err)
	}
	at, body := arrive(t, r)
	judge(t, v, at, body)
	at.Header.Set("Signature", "sig1=:"+strings.Repeat("A", 86)+"==:")
	judge(t, v, at, body)
	if diff := cmp.Diff([]string{agentID + " " + key.Public().Thumbprint()}, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if left < time.Minute || left > 2*time.Minute {
		t.Errorf("kept for %s, want the minute of the signature and a margin", left)
	}
}

func TestLifetimes(t *testing.T) {
	key := webbotauth.GenerateKey()
	long, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: agentURL, Level: ambit.AgentIdentified, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	list := []messagesig.Component{{Name: "@method"}, {Name: "@target-uri"}, {Name: "signature-agent", Key: "sig1"}}
	for _, test := range []struct {
		name    string
		options webbotauth.Options
		after   time.Duration
		want    string
	}{
		{"long enough to be known only", webbotauth.Options{}, 0, "identity verified"},
		{"at its last second", webbotauth.Options{}, time.Hour, "identity verified"},
		{"after its last second", webbotauth.Options{}, time.Hour + time.Second, "none invalid/expired"},
		{"made in 30 s", webbotauth.Options{}, -30 * time.Second, "identity verified"},
		{"made in 31 s", webbotauth.Options{}, -31 * time.Second, "none invalid/created-in-future"},
		{"longer than is allowed", webbotauth.Options{Lifetime: time.Minute}, 0, "none invalid/lifetime"},
		{"as long as may be bound", webbotauth.Options{BoundLifetime: time.Hour}, 0, "request verified"},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			long.At(now)
			r := outgoing(t, "GET", "https://app.test/api/x", "")
			if err := long.SignWith(r, list...); err != nil {
				t.Fatal(err)
			}
			v := verifier(t, key, func(o *webbotauth.Options) {
				o.Lifetime, o.BoundLifetime = test.options.Lifetime, test.options.BoundLifetime
			})
			v.At(now.Add(test.after))
			at, body := arrive(t, r)
			if got := judge(t, v, at, body); got.Level+" "+got.Outcome != test.want {
				t.Errorf("got %s %s, want %s", got.Level, got.Outcome, test.want)
			}
		})
	}
}

// Whatever is changed of a request that was signed for once, it does not verify
// as that anymore; with the draft's minimum covered alone, what is covered is.
func TestNothingVerifiesThatWasNotSigned(t *testing.T) {
	key := webbotauth.GenerateKey()
	rapid.Check(t, func(rt *rapid.T) {
		r := outgoing(t, "POST", "https://app.test/api/notes.purge?dry=0", `{"prefix":"Old"}`)
		r.Header.Set("Authorization", "Bearer abc")
		if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
			rt.Fatal(err)
		}
		at, body := arrive(t, r)
		v := verifier(t, key)
		flip := func(text string) string {
			b := []byte(text)
			i := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
			old := b[i]
			b[i] = rapid.ByteRange(0x21, 0x7e).Filter(func(c byte) bool { return c != old }).Draw(rt, "byte")
			return string(b)
		}
		what := rapid.SampledFrom([]string{"method", "target", "host", "body", "Authorization", "Content-Digest", "Signature", "Signature-Input", "Signature-Agent"}).Draw(rt, "what")
		switch what {
		case "method":
			at.Method = flip(at.Method)
		case "target":
			at.RequestURI = "/" + flip(at.RequestURI[1:])
		case "host":
			at.Host = flip(at.Host)
		case "body":
			body = []byte(flip(string(body)))
		default:
			at.Header.Set(what, flip(at.Header.Get(what)))
		}
		got := judge(t, v, at, body)
		if got.Level == "none" || harmless(what, r, at) {
			return
		}
		rt.Fatalf("%s changed, and the request is still %+v:\n%s\n%v", what, got, at.RequestURI, at.Header)
	})
}

// harmless reports whether a change is one that means the same: letters of a
// host are equal in any case, and the last letter of bytes in base64 has bits
// that count for nothing.
func harmless(what string, r, at *http.Request) bool {
	switch what {
	case "host":
		return strings.EqualFold(at.Host, "app.test")
	case "Signature":
		before, err := messagesig.Parse(r.Header["Signature-Input"], r.Header["Signature"])
		after, err2 := messagesig.Parse(at.Header["Signature-Input"], at.Header["Signature"])
		return err == nil && err2 == nil && bytes.Equal(before[0].Value(), after[0].Value())
	}
	return false
}
