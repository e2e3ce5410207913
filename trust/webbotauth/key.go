package webbotauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// Key is a public key that an agent signs with. It is Ed25519, the only kind
// that is verified here. It is a value that does not change; its JSON form is a
// JWK (RFC 8037, section 2). The zero value is no key and verifies nothing.
type Key struct {
	public     string // the 32 bytes
	thumbprint string
	from, to   time.Time // when it may be used; zero: any time
}

// ParseKey reads a public key from a JWK. It is an error where the key is not
// Ed25519, is for anything but signatures, or comes with its private half: what
// has been published is no secret anymore. The members nbf and exp say when the
// key may be used; kid is not looked at.
func ParseKey(jwk []byte) (Key, error) {
	m, err := membersOf(jwk)
	if err != nil {
		return Key{}, err
	}
	if m.has("d") {
		return Key{}, errors.New("webbotauth: the JWK holds a private key: give the public one")
	}
	return m.key()
}

// Thumbprint returns the key's JWK thumbprint (RFC 7638) in base64url without
// padding, which is the keyid of its signatures.
func (k Key) Thumbprint() string { return k.thumbprint }

// MarshalJSON returns the JWK, with its thumbprint as kid.
func (k Key) MarshalJSON() ([]byte, error) {
	if k.public == "" {
		return nil, errors.New("webbotauth: the zero Key has no JSON form")
	}
	return json.Marshal(publicForm{
		Type: "OKP", Curve: "Ed25519", X: encode([]byte(k.public)), Kid: k.thumbprint, Use: "sig",
		From: seconds(k.from), To: seconds(k.to),
	})
}

// UnmarshalJSON reads a JWK as [ParseKey] does.
func (k *Key) UnmarshalJSON(jwk []byte) (err error) {
	*k, err = ParseKey(jwk)
	return err
}

// verifies reports whether a signature of these bytes is the key's.
func (k Key) verifies(base, signature []byte) bool {
	return len(k.public) == ed25519.PublicKeySize && ed25519.Verify(ed25519.PublicKey(k.public), base, signature)
}

// holds reports whether the key may be used now.
func (k Key) holds(now time.Time) bool {
	return (k.from.IsZero() || !now.Before(k.from)) && (k.to.IsZero() || now.Before(k.to))
}

type publicForm struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Kid   string `json:"kid"`
	Use   string `json:"use"`
	From  int64  `json:"nbf,omitempty"`
	To    int64  `json:"exp,omitempty"`
}

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func newKey(public []byte) Key {
	x := encode(public)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return Key{public: string(public), thumbprint: encode(sum[:])}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode reads 32 bytes in base64url without padding, in the one form that they
// have.
func decode(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return b, err == nil && len(b) == ed25519.PublicKeySize
}

// members are those of a JWK. Members that are not known are allowed (RFC 7517,
// section 4), the same one twice is not.
type members map[string]json.RawMessage

func membersOf(jwk []byte) (m members, err error) {
	if err := strictjson.Unmarshal(jwk, &m); err != nil || m == nil {
		return nil, errors.New("webbotauth: the JWK is not a JSON object")
	}
	return m, nil
}

func (m members) has(name string) bool { return m[name] != nil }

// text returns a member that is a string, "" for any other.
func (m members) text(name string) (text string) {
	if json.Unmarshal(m[name], &text) != nil {
		return ""
	}
	return text
}

var (
	errNotEd25519 = errors.New(`webbotauth: the JWK is not a key of kty "OKP" and crv "Ed25519"`)
	errPurpose    = errors.New("webbotauth: the JWK's use, key_ops or alg is not that of a key that verifies Ed25519 signatures")
	errTime       = errors.New("webbotauth: the JWK's nbf or exp is not a number of seconds")
	errPublic     = errors.New("webbotauth: the JWK's x is not the 32 bytes of a public key in base64url")
	errWeak       = errors.New("webbotauth: the JWK's key is one for which anybody can make signatures")
)

// key reads the public half.
func (m members) key() (Key, error) {
	if m.text("kty") != "OKP" || m.text("crv") != "Ed25519" {
		return Key{}, errNotEd25519
	}
	if !m.forSignatures() {
		return Key{}, errPurpose
	}
	x, ok := decode(m.text("x"))
	if !ok {
		return Key{}, errPublic
	}
	if weak([ed25519.PublicKeySize]byte(x)) {
		return Key{}, errWeak
	}
	k := newKey(x)
	for _, limit := range []struct {
		name string
		time *time.Time
	}{{"nbf", &k.from}, {"exp", &k.to}} {
		if !m.has(limit.name) {
			continue
		}
		var at float64
		if json.Unmarshal(m[limit.name], &at) != nil || at < 0 || at > math.MaxInt32*1000.0 {
			return Key{}, errTime
		}
		*limit.time = time.Unix(int64(at), 0)
	}
	return k, nil
}

// forSignatures judges use, key_ops and alg (RFC 7517, sections 4.2 to 4.4),
// where they are there.
func (m members) forSignatures() bool {
	if m.has("use") && m.text("use") != "sig" {
		return false
	}
	if alg := m.text("alg"); m.has("alg") && alg != "EdDSA" && alg != "Ed25519" && alg != "ed25519" {
		return false
	}
	if !m.has("key_ops") {
		return true
	}
	var operations []string
	if json.Unmarshal(m["key_ops"], &operations) != nil {
		return false
	}
	for _, operation := range operations {
		if operation == "verify" || operation == "sign" && m.has("d") {
			return true
		}
	}
	return false
}

// String says which key it is.
func (k Key) String() string { return fmt.Sprintf("Ed25519 key %s", k.thumbprint) }
