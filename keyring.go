package ambit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/plural"
)

// MinKey is the fewest bytes that a key of a [KeyRing] may have.
const MinKey = 32

// Key is one key of a [KeyRing].
type Key struct {
	// Secret is at least 32 random bytes.
	Secret []byte
	// Until is when what the key has sealed stops to open. Zero: never.
	Until time.Time
}

// Format writes that it is a key, with its date, and never the secret, whatever the
// verb.
func (k Key) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, "a key")
	if !k.Until.IsZero() {
		_, _ = io.WriteString(w, " until "+k.Until.UTC().Format(time.RFC3339))
	}
}

// KeyRing holds the keys that seal what leaves the application and comes back:
// confirmations, cursors, outcomes. The first key seals; all of them open, each
// until its date. No key is used as it is: each purpose, and each application,
// has keys derived from it (HKDF with SHA-256, RFC 5869), so that what was sealed
// for one opens for no other. It is immutable and safe for concurrent use.
//
// To replace a key, put a new one in front, give the old one a date that is
// further away than anything sealed will be used, and remove it after that.
type KeyRing struct{ keys []Key }

// Format writes how many keys there are, and never one, whatever the verb. Nil has
// none.
func (r *KeyRing) Format(w fmt.State, _ rune) {
	n := 0
	if r != nil {
		n = len(r.keys)
	}
	_, _ = io.WriteString(w, "a ring of "+plural.Of(n, "key"))
}

// makeKey says how to make a key, to whoever starts a program without a good one.
const makeKey = `make one with openssl rand 32 | basenc --base64url | tr -d '=\n'`

// NewKeyRing returns a ring of these keys, the one that seals first.
func NewKeyRing(keys ...Key) (*KeyRing, error) {
	if len(keys) == 0 {
		return nil, errors.New("ambit: a key ring needs a key: " + makeKey)
	}
	ring := &KeyRing{}
	for i, key := range keys {
		switch {
		case len(key.Secret) < MinKey:
			return nil, fmt.Errorf("ambit: key %d of the ring has %d bytes: it needs at least %d: "+makeKey, i+1, len(key.Secret), MinKey)
		case slices.ContainsFunc(ring.keys, func(k Key) bool { return string(k.Secret) == string(key.Secret) }):
			return nil, fmt.Errorf("ambit: key %d of the ring stands in it twice: remove one", i+1)
		case i == 0 && !key.Until.IsZero():
			return nil, errors.New("ambit: the first key of the ring, which seals, has a date: put a newer key in front of it")
		}
		key.Secret = slices.Clone(key.Secret)
		ring.keys = append(ring.keys, key)
	}
	return ring, nil
}

// NewKey returns a new key of 32 random bytes in the form that [ParseKeyRing]
// reads. It does not fail.
func NewKey() string {
	var secret [MinKey]byte
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never fails (Go 1.24)
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// ParseKeyRing reads a ring from text, as an environment variable or a file has
// it: keys in base64url without padding, the one that seals first, separated by
// commas or white space; a retired one may have its last date behind it, as in
//
//	NEWKEY,OLDKEY;until=2027-01-31
//
// which ends with that day (UTC). An error never shows a key.
func ParseKeyRing(text string) (*KeyRing, error) {
	var keys []Key
	for i, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }) {
		encoded, date, dated := strings.Cut(field, ";until=")
		secret, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("ambit: key %d of the ring is not base64url without padding: "+makeKey, i+1)
		}
		key := Key{Secret: secret}
		if dated {
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return nil, fmt.Errorf("ambit: key %d of the ring: its date is not of the form 2027-01-31", i+1)
			}
			key.Until = day.AddDate(0, 0, 1)
		}
		keys = append(keys, key)
	}
	return NewKeyRing(keys...)
}

// Sealer seals and opens for one purpose. It is immutable and safe for
// concurrent use.
type Sealer struct{ keys []sealing }

type sealing struct {
	id    [4]byte // tells which key, and nothing about it
	until time.Time
	aead  cipher.AEAD
}

// Sealer returns what seals for a purpose of an application. Both are names that
// must not change as long as anything sealed is to open.
func (k *KeyRing) Sealer(purpose, application string) *Sealer {
	s := &Sealer{keys: make([]sealing, len(k.keys))}
	for i, key := range k.keys {
		derived := key.derive("ambit/seal/1\x00" + purpose + "\x00" + application)
		s.keys[i].until = key.Until
		s.keys[i].aead = newAEAD(derived)
		copy(s.keys[i].id[:], key.derive("ambit/id/1\x00"+purpose+"\x00"+application))
	}
	return s
}

// Derive returns 32 bytes that depend on the first key of the ring, a purpose
// and an application and tell nothing about the key, for authentication codes;
// and those of the other keys that have not reached their date, in the ring's
// order.
func (k *KeyRing) Derive(purpose, application string, now time.Time) [][]byte {
	var derived [][]byte
	for _, key := range k.keys {
		if key.Until.IsZero() || now.Before(key.Until) {
			derived = append(derived, key.derive("ambit/derive/1\x00"+purpose+"\x00"+application))
		}
	}
	return derived
}

// derive cannot fail: 32 bytes are no more than HKDF gives.
func (k Key) derive(info string) []byte {
	derived, _ := hkdf.Key(sha256.New, k.Secret, nil, info, sha256.Size)
	return derived
}

// newAEAD returns AES-256-GCM with random nonces. It cannot fail: the key has the
// right length.
func newAEAD(key []byte) (aead cipher.AEAD) {
	if block, err := aes.NewCipher(key); err == nil {
		aead, _ = cipher.NewGCMWithRandomNonce(block)
	}
	return aead
}

// errSealed says no more than that: why something does not open would help
// whoever made it up.
var errSealed = errorText("this was not sealed here, or for something else, or its key is gone")

// Seal appends plain, sealed and bound to bound, to dst. What is bound is not
// part of it, and has to be given again to open it.
func (s *Sealer) Seal(dst, plain, bound []byte) []byte {
	key := &s.keys[0]
	dst = append(dst, key.id[:]...)
	return key.aead.Seal(dst, nil, plain, bound)
}

// Open appends to dst what was sealed for the same purpose and bound to the same
// bytes.
func (s *Sealer) Open(dst, sealed, bound []byte) ([]byte, error) {
	if len(sealed) < 4 {
		return dst, errSealed
	}
	for i := range s.keys {
		key := &s.keys[i]
		if string(key.id[:]) != string(sealed[:4]) || !key.until.IsZero() && !time.Now().Before(key.until) {
			continue
		}
		if opened, err := key.aead.Open(dst, nil, sealed[4:], bound); err == nil {
			return opened, nil
		}
	}
	return dst, errSealed
}
