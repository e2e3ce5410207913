package bench_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/bench/internal/workload"
	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// forgetful takes every nonce for a new one, so that one signed request can be
// judged many times.
type forgetful struct{}

func (forgetful) Record(context.Context, string, string, time.Time) (bool, error) { return true, nil }

// newVerifier returns one that knows one agent by one key.
func newVerifier(tb testing.TB, key webbotauth.PrivateKey) *webbotauth.Verifier {
	tb.Helper()
	v, err := webbotauth.New(webbotauth.Options{
		Agents:    []webbotauth.Agent{{URL: "https://agent.test", Keys: []webbotauth.Key{key.Public()}}},
		PublicURL: "https://app.test", Nonces: forgetful{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = v.Close() })
	return v
}

// signedOrder is the valid order, signed for once by an agent, as a server gets
// it.
func signedOrder(tb testing.TB, key webbotauth.PrivateKey, agent string) *http.Request {
	tb.Helper()
	sent, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://app.test/api/order", strings.NewReader(workload.ValidJSON))
	if err != nil {
		tb.Fatal(err)
	}
	sent.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 44))
	signer, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: agent, Lifetime: webbotauth.DefaultBoundLifetime})
	if err != nil {
		tb.Fatal(err)
	}
	if err := signer.Sign(sent); err != nil {
		tb.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/api/order", strings.NewReader(workload.ValidJSON))
	r.Host, r.Header = "app.test", sent.Header
	return r
}

// bareKey is the same key for crypto/ed25519.
func bareKey(tb testing.TB, key webbotauth.PrivateKey) ed25519.PublicKey {
	tb.Helper()
	text, err := json.Marshal(key.Public())
	if err != nil {
		tb.Fatal(err)
	}
	var jwk struct{ X string }
	if err := json.Unmarshal(text, &jwk); err != nil {
		tb.Fatal(err)
	}
	x, err := base64.RawURLEncoding.DecodeString(jwk.X)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// bareSignature takes the signature of a request apart, for who only does the
// arithmetic.
func bareSignature(tb testing.TB, r *http.Request) (base, value []byte) {
	tb.Helper()
	signatures, err := messagesig.Parse(r.Header["Signature-Input"], r.Header["Signature"])
	if err != nil {
		tb.Fatal(err)
	}
	base, err = signatures[0].Base(&messagesig.Message{Method: r.Method, Scheme: "https", Authority: "app.test", Path: "/api/order", Header: r.Header})
	if err != nil {
		tb.Fatal(err)
	}
	return base, signatures[0].Value()
}

// reach is how far a request's signature reaches.
func reach(v *webbotauth.Verifier, r *http.Request, body []byte) ambit.AgentLevel {
	signed := v.Verify(r)
	if signed == nil || signed.Settle == nil {
		return ambit.AgentNone
	}
	return signed.Settle(r.Context(), body).Level
}

// BenchmarkSignature is what it takes to verify that an agent has signed a request
// for once: all of it, headers, base, digest and nonce (ambit); the arithmetic on
// the same bytes alone (bare); how many times as long the first takes as the second
// (ratio); and the same request of an agent that is not known (stranger), which comes
// to no arithmetic.
func BenchmarkSignature(b *testing.B) {
	key := webbotauth.GenerateKey()
	v := newVerifier(b, key)
	body := []byte(workload.ValidJSON)
	b.Run("ambit", func(b *testing.B) {
		r := signedOrder(b, key, "https://agent.test")
		meter(b)
		for b.Loop() {
			if level := reach(v, r, body); level != ambit.AgentOnce {
				b.Fatalf("level %s", level)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		public := bareKey(b, key)
		base, value := bareSignature(b, signedOrder(b, key, "https://agent.test"))
		meter(b)
		for b.Loop() {
			if !ed25519.Verify(public, base, value) {
				b.Fatal("it does not verify")
			}
		}
	})
	// One after the other, so that both see the same weather.
	b.Run("ratio", func(b *testing.B) {
		r := signedOrder(b, key, "https://agent.test")
		public := bareKey(b, key)
		base, value := bareSignature(b, r)
		var bare, whole []time.Duration
		for b.Loop() {
			began := time.Now()
			holds := ed25519.Verify(public, base, value)
			between := time.Now()
			level := reach(v, r, body)
			bare, whole = append(bare, between.Sub(began)), append(whole, time.Since(between))
			if !holds || level != ambit.AgentOnce {
				b.Fatalf("it holds: %v, level %s", holds, level)
			}
		}
		b.ReportMetric(float64(median(whole))/float64(median(bare)), "x-bare")
	})
	b.Run("stranger", func(b *testing.B) {
		r := signedOrder(b, key, "https://stranger.test")
		meter(b)
		for b.Loop() {
			if level := reach(v, r, body); level != ambit.AgentNone {
				b.Fatalf("level %s", level)
			}
		}
	})
}

func TestSignature(t *testing.T) {
	key := webbotauth.GenerateKey()
	v := newVerifier(t, key)
	r := signedOrder(t, key, "https://agent.test")
	if level := reach(v, r, []byte(workload.ValidJSON)); level != ambit.AgentOnce {
		t.Errorf("level %s, want once", level)
	}
	base, value := bareSignature(t, r)
	if !ed25519.Verify(bareKey(t, key), base, value) {
		t.Error("the arithmetic alone does not verify it")
	}
	for i, header := range hostileHeaders(key) {
		r := signedOrder(t, key, "https://agent.test")
		r.Header = header
		if level := reach(v, r, nil); level != ambit.AgentNone {
			t.Errorf("hostile headers %d reach %s", i, level)
		}
	}
}

// BenchmarkHostileSignatures judges a thousand sets of headers that are made to
// take long, and reports the one that took longest at its best, as slowest-us.
func BenchmarkHostileSignatures(b *testing.B) {
	key := webbotauth.GenerateKey()
	v := newVerifier(b, key)
	sets := hostileHeaders(key)
	best := make([]time.Duration, len(sets))
	for i := range best {
		best[i] = time.Hour
	}
	r := httptest.NewRequest(http.MethodPost, "/api/order", nil)
	r.Host = "app.test"
	for b.Loop() {
		for i, header := range sets {
			r.Header = header
			begun := time.Now()
			reach(v, r, nil)
			best[i] = min(best[i], time.Since(begun))
		}
	}
	slowest := time.Duration(0)
	for _, took := range best {
		slowest = max(slowest, took)
	}
	b.ReportMetric(float64(slowest.Nanoseconds())/1000, "slowest-us")
	b.ReportMetric(float64(len(sets)), "sets")
}

// hostileHeaders returns a thousand sets of headers, the same each time but for
// the key: fields of every size up to 256 KiB, full of what a parser may
// stumble over, and signatures that hold up to the arithmetic.
func hostileHeaders(key webbotauth.PrivateKey) []http.Header {
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now().Unix()
	good := fmt.Sprintf(`;created=%d;expires=%d;keyid="%s";tag="web-bot-auth"`, now, now+60, key.Public().Thumbprint())
	value := ":" + strings.Repeat("A", 86) + "==:"
	shapes := []func(size int) http.Header{
		func(n int) http.Header { return signatureHeaders(strings.Repeat("a=(),", n/5)+"a", "a="+value, "") },
		func(n int) http.Header {
			return signatureHeaders("s=("+strings.Repeat(`"a" `, n/4)+")"+good, "s="+value, `s="https://agent.test"`)
		},
		func(n int) http.Header {
			return signatureHeaders(`s=("a"`+strings.Repeat(";a", n/2)+")"+good, "s="+value, "")
		},
		func(n int) http.Header {
			return signatureHeaders(`s=("@authority")`+strings.Repeat(";a=1", n/4), "s="+value, "")
		},
		func(n int) http.Header {
			return signatureHeaders(`s=("@authority");nonce="`+strings.Repeat(`\"`, n/2)+`"`+good, "s="+value, "")
		},
		func(n int) http.Header { return signatureHeaders(strings.Repeat("(", n), strings.Repeat(":", n), "") },
		func(n int) http.Header {
			return signatureHeaders(`s=("@authority" "signature-agent";key="s")`+good, "s=:"+strings.Repeat("A", n)+":", `s="https://agent.test"`)
		},
		func(n int) http.Header {
			return signatureHeaders(`s=("@authority" "signature-agent";key="s")`+good, "s="+value, `s="https://agent.test/`+strings.Repeat("%2e/", n/4)+`"`)
		},
		func(n int) http.Header {
			return signatureHeaders(`s=("@authority" "signature-agent";key="s")`+good, "s="+value, strings.Repeat(`x="y", `, n/7)+`s="https://agent.test"`)
		},
		func(n int) http.Header { return wideBase(n, good, value) },
		func(n int) http.Header { return wholeFields(n, good, value) },
	}
	sets := make([]http.Header, 0, 1000)
	for i := range 1000 {
		sets = append(sets, shapes[i%len(shapes)](1+random.IntN(1<<(4+i%15))))
	}
	return sets
}

func signatureHeaders(input, value, agent string) http.Header {
	return http.Header{"Signature-Input": {input}, "Signature": {value}, "Signature-Agent": {agent}}
}

// wideBase has four signatures of a known agent by a known key, each of which
// covers members of large dictionaries and then does not verify.
func wideBase(n int, good, value string) http.Header {
	header := signatureHeaders("", "", "")
	var list strings.Builder
	for i := range 14 {
		name := fmt.Sprintf("x-%d", i)
		fmt.Fprintf(&list, ` "%s";key="b"`, name)
		header[http.CanonicalHeaderKey(name)] = []string{`a="` + strings.Repeat("x", min(n, 7000)) + `", b=(1 2 3)`}
	}
	var inputs, values, agents []string
	for _, label := range []string{"s", "t", "u", "v"} {
		inputs = append(inputs, label+`=("@authority" "signature-agent";key="`+label+`"`+list.String()+")"+good)
		values = append(values, label+"="+value)
		agents = append(agents, label+`="https://agent.test"`)
	}
	header["Signature-Input"], header["Signature"], header["Signature-Agent"] = inputs, values, agents
	return header
}

// wholeFields has four signatures of a known agent by a known key, each of which
// covers large fields as a whole and then does not verify.
func wholeFields(n int, good, value string) http.Header {
	header := signatureHeaders("", "", "")
	var list strings.Builder
	for i := range 13 {
		name := fmt.Sprintf("x-%d", i)
		fmt.Fprintf(&list, ` "%s"`, name)
		header[http.CanonicalHeaderKey(name)] = []string{strings.Repeat("x", min(n, 1200))}
	}
	var inputs, values, agents []string
	for _, label := range []string{"s", "t", "u", "v"} {
		inputs = append(inputs, label+`=("@authority" "signature-agent";key="`+label+`"`+list.String()+")"+good)
		values = append(values, label+"="+value)
		agents = append(agents, label+`="https://agent.test"`)
	}
	header["Signature-Input"], header["Signature"], header["Signature-Agent"] = inputs, values, agents
	return header
}
