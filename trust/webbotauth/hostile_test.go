package webbotauth_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// Several signatures are judged each by itself, and one that breaks rules takes
// nothing from one that holds.
func TestSeveralSignatures(t *testing.T) {
	key := webbotauth.GenerateKey()
	r := outgoing(t, "GET", "https://app.test/api/x", "")
	if err := signer(t, key, ambit.AgentOnce).Sign(r); err != nil {
		t.Fatal(err)
	}
	input, value := r.Header.Get("Signature-Input"), r.Header.Get("Signature")
	for _, test := range []struct{ name, input, value, want string }{
		{"a proxy's before", `proxy=("@method" "x";sf;bs "y";tr);created=?1;tag=token;keyid=1, ` + input, "proxy=:AAAA:, " + value, "verified"},
		{"a proxy's without a value", input + `, proxy=("@status")`, value, "verified"},
		{"a proxy's value that is no bytes", input + `, proxy=("@method")`, value + ", proxy=1", "verified"},
		{"a bad one before", `bad=("@method");tag="web-bot-auth", ` + input, "bad=:AAAA:, " + value, "verified"},
		{"a bad one after", input + `, bad=("@method");tag="web-bot-auth"`, value + ", bad=:AAAA:", "verified"},
		{"five", input + `, a=("@method"), b=("@method"), c=("@method"), d=("@method")`, value, "invalid/signature-input-unreadable"},
		{"the same label twice", input + ", " + input, value, "invalid/signature-input-unreadable"},
		{"no value", input, "", "invalid/signature-unreadable"},
		{"no input", "", value, "unsigned"},
		{"unknown component", strings.Replace(input, `"@query"`, `"@query-param";name="x"`, 1), value, "invalid/component-unknown"},
		{"nonce that is no string", strings.Replace(input, `nonce="`, `nonce=1;x="`, 1), value, "invalid/nonce-unreadable"},
		{"decimal time", strings.Replace(input, ";expires=", ".0;expires=", 1), value, "invalid/missing-parameter"},
	} {
		t.Run(test.name, func(t *testing.T) {
			at, body := arrive(t, r)
			at.Header.Set("Signature-Input", test.input)
			at.Header.Set("Signature", test.value)
			v := verifier(t, key)
			if got := judge(t, v, at, body); got.Outcome != test.want {
				t.Errorf("got %+v, want %s", got, test.want)
			}
		})
	}
}

// Whatever stands in the headers, nothing verifies but the one signature that
// the key has made.
func FuzzVerify(f *testing.F) {
	key := webbotauth.GenerateKey()
	r := outgoing(f, "POST", "https://app.test/api/x", "{}")
	if err := signer(f, key, ambit.AgentOnce).Sign(r); err != nil {
		f.Fatal(err)
	}
	at, _ := arrive(f, r)
	good := at.Header.Clone()
	f.Add(good.Get("Signature-Input"), good.Get("Signature"), good.Get("Signature-Agent"), good.Get("Content-Digest"), "{}")
	f.Add(`sig1=("@authority")`, "sig1=:AAAA:", `"https://agent.test"`, "sha-256=:AAAA:", "")
	f.Add(strings.Repeat("a,", 500), "a", `a="https://agent.test";type=jwks_uri`, "", "x")
	f.Fuzz(func(t *testing.T, input, signature, agent, digest, body string) {
		v := verifier(t, key)
		r := at.Clone(at.Context())
		r.Header = http.Header{}
		for name, value := range map[string]string{"Signature-Input": input, "Signature": signature, "Signature-Agent": agent, "Content-Digest": digest} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		got := judge(t, v, r, []byte(body))
		if got.Level == "none" {
			return
		}
		value, _, _ := strings.Cut(strings.TrimPrefix(good.Get("Signature"), "sig1=:"), "==:")
		if body != "{}" || !strings.Contains(signature, value[:80]) {
			t.Fatalf("%+v: %q %q %q %q %q", got, input, signature, agent, digest, body)
		}
	})
}

// A directory's body gives at most twenty keys, each by its own thumbprint.
func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`), true)
	f.Add([]byte(`{"keys":[{"kty":"RSA"},{},null,1]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, own bool) {
		keys, _, err := webbotauth.ParseKeySet(body, own)
		if len(keys) > 20 || err != nil && keys != nil {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for thumbprint, key := range keys {
			if key.Thumbprint() != thumbprint || len(thumbprint) != 43 {
				t.Fatalf("%s under %s", key, thumbprint)
			}
		}
	})
}

// What can be read as a key is written as the same key.
func FuzzParseKey(f *testing.F) {
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","exp":1.5,"use":"sig"}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
	f.Fuzz(func(t *testing.T, jwk []byte) {
		key, err := webbotauth.ParseKey(jwk)
		if err != nil {
			return
		}
		text, err := key.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := webbotauth.ParseKey(text)
		if err != nil || again.Thumbprint() != key.Thumbprint() {
			t.Fatalf("%s became %s, %v", jwk, text, err)
		}
	})
}
