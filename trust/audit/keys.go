package audit

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
)

// The purposes that keys are derived for.
const (
	chainPurpose  = "audit-chain"
	digestPurpose = "audit-digest"
	signPurpose   = "audit-sign"
)

// keys are what the key ring gives the audit record of one application. The first
// of each kind writes, all of them verify.
type keys struct {
	ring        *ambit.KeyRing
	application string
}

// chain returns the keys that a tenant's chains are hashed under.
func (k keys) chain(tenant string) [][]byte { return k.tenant(chainPurpose, tenant) }

// digest returns the key that the digests of a tenant's inputs are made under.
func (k keys) digest(tenant string) []byte { return k.tenant(digestPurpose, tenant)[0] }

func (k keys) tenant(purpose, tenant string) [][]byte {
	derived := k.ring.Derive(purpose, k.application, time.Now())
	for i, key := range derived {
		code := hmac.New(sha256.New, key)
		_, _ = code.Write(appendTexts(nil, "ambit/audit/tenant/1", tenant)) // a hash takes everything
		derived[i] = code.Sum(nil)
	}
	return derived
}

// sign returns the keys that checkpoints and cuts are signed with.
func (k keys) sign() []ed25519.PrivateKey {
	derived := k.ring.Derive(signPurpose, k.application, time.Now())
	private := make([]ed25519.PrivateKey, len(derived))
	for i, seed := range derived {
		private[i] = ed25519.NewKeyFromSeed(seed)
	}
	return private
}

// signers are the public halves of the keys that sign.
type signers []ed25519.PublicKey

func (k keys) signers() signers {
	var list signers
	for _, private := range k.sign() {
		if public, ok := private.Public().(ed25519.PublicKey); ok {
			list = append(list, public)
		}
	}
	return list
}

// signed reports whether one of them has signed the text.
func (s signers) signed(text, signature []byte) bool {
	return slices.ContainsFunc(s, func(public ed25519.PublicKey) bool { return ed25519.Verify(public, text, signature) })
}

// PublicKey returns the key by which anyone can tell that this log has signed a
// checkpoint, without being able to sign one, see [Checkpoint.Signed].
func (l *Log) PublicKey() ed25519.PublicKey {
	public, _ := l.signer.Public().(ed25519.PublicKey)
	return public
}

// code returns the authentication code of an entry that follows the one with the
// code before, appended to dst.
func code(dst []byte, mac hash.Hash, before []byte, e *Entry) []byte {
	text := make([]byte, 0, 512+len(e.Body))
	text = appendBytes(appendTexts(text, "ambit/audit/entry/1"), before)
	text = binary.BigEndian.AppendUint64(appendTexts(text, e.Tenant, e.Writer), e.Seq)
	text = appendTime(text, e.Time)
	text = appendTexts(text, e.Kind, e.Principal, e.Capability, e.Call, e.Run, e.Proposal)
	text = appendBytes(text, e.Body)
	mac.Reset()
	_, _ = mac.Write(text)
	return mac.Sum(dst)
}

// signedText returns what is signed of the head of a chain. Tag says what for.
func signedText(tag, tenant, writer string, seq uint64, mac []byte, at time.Time) []byte {
	text := binary.BigEndian.AppendUint64(appendTexts(nil, tag, tenant, writer), seq)
	return appendTime(appendBytes(text, mac), at)
}

// appendTexts appends texts with their lengths in front, so that no two lists of
// texts are the same bytes.
func appendTexts(dst []byte, texts ...string) []byte {
	for _, text := range texts {
		dst = append(binary.BigEndian.AppendUint64(dst, uint64(len(text))), text...)
	}
	return dst
}

func appendBytes(dst, text []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(text))), text...)
}

// appendTime appends a time to the microsecond, which is as much as stores keep.
func appendTime(dst []byte, at time.Time) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(at.UnixMicro()))
}
