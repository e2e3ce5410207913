package encode

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxText is how many bytes of a text a column that has an index keeps. It is no less
// than what the principal of a grant may have, by which proposals are found.
const maxText = 1024

// Text returns what stands for a text of others in a column that is searched by: the
// text, or a digest of one that PostgreSQL does not take there, because it has a zero
// byte in it, is no UTF-8 or is too long for an index. No two texts share one.
func Text(s string) string {
	const mark = `"` // before digests alone
	if len(s) <= maxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, mark) {
		return s
	}
	digest := sha256.Sum256([]byte(s))
	return mark + hex.EncodeToString(digest[:])
}
