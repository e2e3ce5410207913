package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// nonceFor is how long a nonce may be used.
const nonceFor = 5 * time.Minute

// nonces makes and checks the nonces of DPoP proofs (RFC 9449, section 8). A nonce
// is a time and its seal; nothing is kept.
type nonces struct{ key []byte }

func (n *nonces) issue() string { return n.at(time.Now().Unix()) }

func (n *nonces) at(unix int64) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(unix))
	return base64.RawURLEncoding.EncodeToString(n.seal(text))
}

// seal appends to a time what only the holder of the key can.
func (n *nonces) seal(unix []byte) []byte {
	mac := hmac.New(sha256.New, n.key)
	mac.Write([]byte("ambit dpop nonce\x00"))
	mac.Write(unix)
	return append(unix, mac.Sum(nil)[:16]...)
}

// valid reports whether a nonce was issued here a short time ago.
func (n *nonces) valid(nonce string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(nonce)
	if err != nil || len(raw) != 8+16 {
		return false
	}
	unix := raw[:8:8]
	age := time.Since(time.Unix(int64(binary.BigEndian.Uint64(unix)), 0))
	return hmac.Equal(raw, n.seal(unix)) && age >= -leeway && age < nonceFor
}
