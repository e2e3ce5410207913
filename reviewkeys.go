package ambit

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// The halves of a review key are told by how their text begins. No key of a ring
// begins like that, because of the dot.
const (
	sealsPrefix = "ambit_seals."
	opensPrefix = "ambit_opens."
)

// ReviewKeys hold the keys for what persons are shown who decide: inputs,
// previews and summaries of proposals. Each key has two halves. The one seals and
// is for every process that serves callers; the other opens and is for those in
// which persons decide. A process with halves of the first kind alone proposes,
// waits and makes approved calls like any other, and opens no proposal that another
// process has sealed, or that it has itself before it was started again.
//
// The first key seals; all of which the opening half is there open, each until
// its date. To replace a key, add the new opening half behind the old one where
// persons decide; then put the new sealing half in front everywhere, and give the
// old key a date that is further away than anything waits or is looked at.
//
// They are keys of DHKEM(X25519, HKDF-SHA256), RFC 9180. Make them with
// [ParseReviewKeys]. They are immutable and safe for concurrent use.
type ReviewKeys struct{ keys []reviewKey }

type reviewKey struct {
	id     reviewID
	seals  hpke.PublicKey
	opens  hpke.PrivateKey // nil: this half is elsewhere
	secret []byte          // of opens
	until  time.Time
}

// reviewID is how the half of a key that seals begins: no secret, and what an
// operator finds in the configuration.
type reviewID [6]byte

func (id reviewID) String() string {
	return sealsPrefix + base64.RawURLEncoding.EncodeToString(id[:]) + "…"
}

// reviewKEM is what the keys are made for.
func reviewKEM() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }

// NewReviewKey returns the two halves of a new key in the form that
// [ParseReviewKeys] reads: the one that seals, which is no secret but of no use to
// strangers, and the one that opens, which is. It does not fail.
func NewReviewKey() (seals, opens string) {
	key, _ := reviewKEM().GenerateKey() // crypto/rand never fails (Go 1.24)
	secret, _ := key.Bytes()            // fails for keys in hardware alone
	return sealsPrefix + base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), opensPrefix + base64.RawURLEncoding.EncodeToString(secret)
}

// ParseReviewKeys reads keys from text, as an environment variable or a file has
// it: halves as [NewReviewKey] makes them, the key that seals first, separated by
// commas or white space; a retired one may have its last date (UTC) behind it, as in
//
//	ambit_opens.NEW,ambit_opens.OLD;until=2027-01-31
//
// The opening half of a key can do all that the sealing one can, so a key stands
// there once. An error never shows a key.
func ParseReviewKeys(text string) (*ReviewKeys, error) {
	keys := &ReviewKeys{}
	for i, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }) {
		half, date, dated := strings.Cut(field, ";until=")
		key, fault := parseReviewKey(half)
		if dated {
			day, err := time.Parse(time.DateOnly, date)
			if err != nil && fault == "" {
				fault = "its date is not of the form 2027-01-31"
			}
			key.until = day.AddDate(0, 0, 1)
		}
		for j, other := range keys.keys {
			if fault == "" && string(other.seals.Bytes()) == string(key.seals.Bytes()) {
				fault = fmt.Sprintf("it is key %d, too: leave the half that opens, or one of two", j+1)
			}
		}
		if fault == "" && i == 0 && dated {
			fault = "the first key, which seals, has a date: put a newer key in front of it"
		}
		if fault != "" {
			return nil, fmt.Errorf("ambit: review key %d: %s", i+1, fault)
		}
		keys.keys = append(keys.keys, key)
	}
	if len(keys.keys) == 0 {
		return nil, errors.New("ambit: there is no review key: make one with NewReviewKey or the command approvals keygen, or leave Options.ReviewKeys nil")
	}
	return keys, nil
}

// parseReviewKey reads one half, and says what is wrong with it.
func parseReviewKey(half string) (key reviewKey, fault string) {
	encoded, opens := strings.CutPrefix(half, opensPrefix)
	seals := false
	if !opens {
		encoded, seals = strings.CutPrefix(half, sealsPrefix)
	}
	if !opens && !seals {
		return key, "it begins with neither " + sealsPrefix + " nor " + opensPrefix + ": make one with NewReviewKey"
	}
	bytes, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err == nil && opens {
		if key.opens, err = reviewKEM().NewPrivateKey(bytes); err == nil {
			key.seals = key.opens.PublicKey()
			key.secret, err = key.opens.Bytes()
		}
	} else if err == nil {
		key.seals, err = reviewKEM().NewPublicKey(bytes)
	}
	if err == nil { // some points seal nothing: better now than at the first proposal
		_, _, err = hpke.NewSender(key.seals, hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
	}
	if err != nil { // which could show a key
		return key, "what follows its prefix is no key: copy it whole, as NewReviewKey made it"
	}
	copy(key.id[:], key.seals.Bytes())
	return key, ""
}

// Opens reports whether there is a half that opens and has not reached its date,
// so that persons can decide in this process. It is false for nil.
func (k *ReviewKeys) Opens() bool {
	now := time.Now()
	for i := range k.len() {
		if k.keys[i].opensAt(now) {
			return true
		}
	}
	return false
}

func (k *reviewKey) opensAt(now time.Time) bool {
	return k.opens != nil && (k.until.IsZero() || now.Before(k.until))
}

// Sealing returns the halves that seal, in the form that [ParseReviewKeys] reads,
// with the dates: what the processes are given in which nobody decides. It is
// empty for nil.
func (k *ReviewKeys) Sealing() string {
	var halves []string
	for i := range k.len() {
		half := sealsPrefix + base64.RawURLEncoding.EncodeToString(k.keys[i].seals.Bytes())
		if until := k.keys[i].until; !until.IsZero() {
			half += ";until=" + until.AddDate(0, 0, -1).Format(time.DateOnly)
		}
		halves = append(halves, half)
	}
	return strings.Join(halves, ",")
}

// len returns how many keys there are. Nil has none.
func (k *ReviewKeys) len() int {
	if k == nil {
		return 0
	}
	return len(k.keys)
}

// Format writes how the halves of the keys begin that seal, and never one that opens,
// whatever the verb.
func (k *ReviewKeys) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, "review keys "+k.ids()) }

// ids names the keys, for an operator. Nil has none.
func (k *ReviewKeys) ids() string {
	var names []string
	for i := range k.len() {
		names = append(names, k.keys[i].id.String())
	}
	return strings.Join(names, ", ")
}

// ring returns a ring of the halves that open, the lasting ones first, so that
// whatever is derived from it can be made and read by nobody without them. Nil:
// there is none.
func (k *ReviewKeys) ring() *KeyRing {
	ring := &KeyRing{}
	now := time.Now()
	for _, dated := range [...]bool{false, true} {
		for i := range k.keys {
			if key := &k.keys[i]; key.opensAt(now) && key.until.IsZero() != dated {
				ring.keys = append(ring.keys, Key{Secret: key.secret, Until: key.until})
			}
		}
	}
	if len(ring.keys) == 0 {
		return nil
	}
	return ring
}
