package webbotauth_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func TestKeysAreReadBack(t *testing.T) {
	key := webbotauth.GenerateKey()
	jwk, err := key.JWK()
	if err != nil {
		t.Fatal(err)
	}
	again, err := webbotauth.ParsePrivateKey(jwk)
	if err != nil || again.Public() != key.Public() || string(again.Sign([]byte("x"))) != string(key.Sign([]byte("x"))) {
		t.Errorf("private key: %v, %v", again, err)
	}
	text, err := json.Marshal(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public, err := webbotauth.ParseKey(text)
	if err != nil || public != key.Public() {
		t.Errorf("public key: %v, %v", public, err)
	}
	var m map[string]string
	if err := json.Unmarshal(text, &m); err != nil || m["kid"] != public.Thumbprint() || m["d"] != "" {
		t.Errorf("public form %s", text)
	}
}

// A private key gets out by its JWK method alone.
func TestT09_PrivateKeysDoNotPrint(t *testing.T) {
	key := webbotauth.GenerateKey()
	jwk, err := key.JWK()
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]string
	if err := json.Unmarshal(jwk, &m); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", key)
	printed := fmt.Sprintf("%v %+v %#v %s %q %x %d", key, key, key, key, key, key, key) + log.String()
	if _, err := json.Marshal(key); err == nil {
		t.Error("json.Marshal gives a JSON form")
	}
	seed, err := base64.RawURLEncoding.DecodeString(m["d"])
	if err != nil || len(seed) != 32 {
		t.Fatalf("d is %d bytes, %v", len(seed), err)
	}
	for _, secret := range []string{m["d"], hex.EncodeToString(seed), strings.Trim(fmt.Sprint(seed), "[]"), string(seed)} {
		if strings.Contains(printed, secret) {
			t.Errorf("%q is in %s", secret, printed)
		}
	}
	if _, err := (webbotauth.PrivateKey{}).JWK(); err == nil {
		t.Error("the zero key has a JWK")
	}
	if _, err := json.Marshal(webbotauth.Key{}); err == nil {
		t.Error("the zero public key has a JSON form")
	}
}

func TestParseKeyRefuses(t *testing.T) {
	const x = `"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
	const ok = `"kty":"OKP","crv":"Ed25519",` + x
	for _, test := range []struct{ name, jwk, want string }{
		{"good", `{` + ok + `}`, ""},
		{"all members", `{` + ok + `,"use":"sig","alg":"EdDSA","key_ops":["verify"],"kid":"any","nbf":1,"exp":2e9,"x5u":{}}`, ""},
		{"empty", ``, "not a JSON object"},
		{"null", `null`, "not a JSON object"},
		{"list", `[]`, "not a JSON object"},
		{"duplicate", `{` + ok + `,` + x + `}`, "not a JSON object"},
		{"trailing", `{` + ok + `} x`, "not a JSON object"},
		{"RSA", `{"kty":"RSA","n":"AQAB","e":"AQAB"}`, "Ed25519"},
		{"P-256", `{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}`, "Ed25519"},
		{"X25519", `{"kty":"OKP","crv":"X25519",` + x + `}`, "Ed25519"},
		{"kty in capitals", `{"kty":"okp","crv":"Ed25519",` + x + `}`, "Ed25519"},
		{"use", `{` + ok + `,"use":"enc"}`, "use"},
		{"use of another type", `{` + ok + `,"use":1}`, "use"},
		{"operations", `{` + ok + `,"key_ops":["encrypt"]}`, "key_ops"},
		{"signing with a public key", `{` + ok + `,"key_ops":["sign"]}`, "key_ops"},
		{"operations of another type", `{` + ok + `,"key_ops":"verify"}`, "key_ops"},
		{"algorithm", `{` + ok + `,"alg":"HS256"}`, "alg"},
		{"short x", `{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`, "32 bytes"},
		{"padded x", `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo="}`, "32 bytes"},
		{"x with stray bits", `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp"}`, "32 bytes"},
		{"exp of another type", `{` + ok + `,"exp":"tomorrow"}`, "exp"},
		{"exp far away", `{` + ok + `,"exp":1e300}`, "exp"},
		{"negative nbf", `{` + ok + `,"nbf":-1}`, "nbf"},
		{"private half", `{` + ok + `,"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}`, "private"},
		{"weak", `{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "anybody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := webbotauth.ParseKey([]byte(test.jwk))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("want an error with %q, got %v", test.want, err)
			}
		})
	}
	for _, test := range []struct{ name, jwk string }{
		{"no private half", `{` + ok + `}`},
		{"short private half", `{` + ok + `,"d":"AAAA"}`},
		{"another private half", `{` + ok + `,"d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`},
	} {
		if _, err := webbotauth.ParsePrivateKey([]byte(test.jwk)); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := webbotauth.ParsePrivateKey([]byte(`{` + ok + `,"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","key_ops":["sign"]}`)); err != nil {
		t.Errorf("the key of RFC 8037: %v", err)
	}
}

// For each of the keys that are called weak there is a message that a signature
// made without any key verifies: the signature of nothing, R the neutral point
// and S zero. If Go came to refuse them itself, this would tell.
func TestWeakKeys(t *testing.T) {
	neutral, zero := [32]byte{1}, [32]byte{}
	signature := append(neutral[:], zero[:]...)
	for _, text := range webbotauth.SmallOrder {
		point, err := hex.DecodeString(text)
		if err != nil || !webbotauth.Weak([32]byte(point)) {
			t.Errorf("%s is not called weak, %v", text, err)
		}
		forged := false
		for i := range 200 {
			forged = forged || ed25519.Verify(point, []byte{byte(i)}, signature)
		}
		if !forged {
			t.Errorf("%s: no forgery found", text)
		}
		point[31] |= 0x80
		if !webbotauth.Weak([32]byte(point)) {
			t.Errorf("%s with the other sign is not called weak", text)
		}
	}
	if key := webbotauth.GenerateKey().Public(); key.Thumbprint() == "" {
		t.Error("no thumbprint")
	}
}

func TestLoadAgents(t *testing.T) {
	public, err := json.Marshal(webbotauth.GenerateKey().Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, text, want string }{
		{"good", `[{"url":"https://a.test","directory":true},{"url":"https://b.test/keys","keys":[` + string(public) + `]}]`, ""},
		{"with a copy", `[{"url":"https://a.test","directory":true,"copy":"https://c.test/a"}]`, ""},
		{"empty", `[]`, "empty"},
		{"no list", `{}`, "not a JSON list"},
		{"unknown member", `[{"url":"https://a.test","directories":true}]`, "not a JSON list"},
		{"no URL", `[{"directory":true}]`, "agent 1"},
		{"http", `[{"url":"https://a.test","directory":true},{"url":"http://b.test","directory":true}]`, "agent 2"},
		{"no keys", `[{"url":"https://a.test"}]`, "has no keys"},
		{"copy without directory", `[{"url":"https://a.test","keys":[` + string(public) + `],"copy":"https://c.test/a"}]`, "Copy"},
		{"copy over http", `[{"url":"https://a.test","directory":true,"copy":"http://c.test/a"}]`, "Copy"},
		{"private key", `[{"url":"https://a.test","keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"x"}]}]`, "private key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agents.json")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			agents, err := webbotauth.LoadAgents(path)
			if (err == nil) != (test.want == "") || err != nil && !(strings.Contains(err.Error(), test.want) && strings.Contains(err.Error(), path)) {
				t.Fatalf("want an error with %q and the path, got %v", test.want, err)
			}
			if err != nil {
				return
			}
			v, err := webbotauth.New(webbotauth.Options{Agents: agents})
			if err != nil {
				t.Fatal(err)
			}
			_ = v.Close()
		})
	}
	if _, err := webbotauth.LoadAgents(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there: no error")
	}
	if _, err := webbotauth.LoadAgents(t.TempDir()); err == nil {
		t.Error("a folder: no error")
	}
}

func TestNewRefuses(t *testing.T) {
	key := webbotauth.GenerateKey()
	good := []webbotauth.Agent{{URL: agentURL, Keys: []webbotauth.Key{key.Public()}}}
	for _, test := range []struct {
		want    string
		options webbotauth.Options
	}{
		{"Agents is empty", webbotauth.Options{}},
		{"is there twice", webbotauth.Options{Agents: append(good, webbotauth.Agent{URL: agentID, Directory: true})}},
		{"zero Key", webbotauth.Options{Agents: []webbotauth.Agent{{URL: agentURL, Keys: []webbotauth.Key{{}}}}}},
		// The signature of a directory names its host alone, so that a copy could be that of a neighbor.
		{"names the host alone", webbotauth.Options{Agents: []webbotauth.Agent{{URL: agentURL + "/alice", Directory: true, Copy: "https://copies.test/alice"}}}},
		{"PublicURL", webbotauth.Options{Agents: good, PublicURL: "app.test"}},
		{"PublicURL", webbotauth.Options{Agents: good, PublicURL: "https://app.test/?x"}},
		{"negative", webbotauth.Options{Agents: good, Lifetime: -1}},
		{"negative", webbotauth.Options{Agents: good, Instances: -1}},
		{"longer than", webbotauth.Options{Agents: good, Lifetime: time.Minute, BoundLifetime: time.Hour}},
		{"not a public address", webbotauth.Options{Agents: []webbotauth.Agent{{URL: "https://127.0.0.1", Directory: true}}}},
		{"not a public address", webbotauth.Options{Agents: []webbotauth.Agent{{URL: "https://169.254.169.254", Directory: true}}}},
	} {
		if _, err := webbotauth.New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, err)
		}
	}
}
