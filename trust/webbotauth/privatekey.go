package webbotauth

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// PrivateKey is what an agent signs with. It has no JSON form of its own and
// prints as its thumbprint, so that it gets out by [PrivateKey.JWK] alone. The
// zero value is no key.
type PrivateKey struct {
	private ed25519.PrivateKey
	public  Key
}

// GenerateKey returns a new key. It does not fail.
func GenerateKey() PrivateKey {
	var seed [ed25519.SeedSize]byte
	_, _ = rand.Read(seed[:]) // crypto/rand.Read never fails (Go 1.24)
	return fromSeed(seed[:])
}

func fromSeed(seed []byte) PrivateKey {
	private := ed25519.NewKeyFromSeed(seed)
	return PrivateKey{private: private, public: newKey(private.Public().(ed25519.PublicKey))}
}

// ParsePrivateKey reads a private key from a JWK, as [PrivateKey.JWK] writes it.
// It is an error where its two halves do not belong together. No error repeats
// anything of the key.
func ParsePrivateKey(jwk []byte) (PrivateKey, error) {
	m, err := membersOf(jwk)
	if err != nil {
		return PrivateKey{}, err
	}
	public, err := m.key()
	if err != nil {
		return PrivateKey{}, err
	}
	seed, ok := decode(m.text("d"))
	if !ok {
		return PrivateKey{}, errors.New("webbotauth: the JWK holds no private key: d is not 32 bytes in base64url")
	}
	k := fromSeed(seed)
	if k.public.public != public.public {
		return PrivateKey{}, errors.New("webbotauth: the JWK's d and x do not belong together")
	}
	k.public = public
	return k, nil
}

// JWK returns the private key as a JWK (RFC 8037, section 2). Keep it where only
// its owner can read it.
func (k PrivateKey) JWK() ([]byte, error) {
	if k.private == nil {
		return nil, errNoKey
	}
	return json.Marshal(struct {
		publicForm
		D string `json:"d"`
	}{publicForm{Type: "OKP", Curve: "Ed25519", X: encode([]byte(k.public.public)), Kid: k.public.thumbprint, Use: "sig"}, encode(k.private.Seed())})
}

var errNoKey = errors.New("webbotauth: the zero PrivateKey is no key: make one with GenerateKey or ParsePrivateKey")

// Public returns the public half.
func (k PrivateKey) Public() Key { return k.public }

func (k PrivateKey) sign(base []byte) []byte { return ed25519.Sign(k.private, base) }

// Format prints the thumbprint, whatever the verb.
func (k PrivateKey) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "private Ed25519 key %s", k.public.thumbprint)
}

// LogValue gives the thumbprint to logs.
func (k PrivateKey) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(k)) }

// MarshalJSON refuses, so that a key does not get into a text by accident.
func (k PrivateKey) MarshalJSON() ([]byte, error) {
	return nil, errors.New("webbotauth: a PrivateKey has no JSON form: use its JWK method")
}
