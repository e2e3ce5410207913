package messagesig

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"

	"github.com/ambit-dev/ambit/internal/structured"
)

var (
	// ErrDigest is what [CheckDigest] returns for a digest of another body.
	ErrDigest = errors.New("Content-Digest: the body is another one")
	// ErrNoDigest is what [CheckDigest] returns where no digest of the header
	// can be checked.
	ErrNoDigest = errors.New("Content-Digest: there is no SHA-256 and no SHA-512")
)

// Digest returns the value of a Content-Digest field for a body (RFC 9530,
// section 2), its SHA-256.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	value, err := member("sha-256", structured.Item{Value: structured.Binary(sum[:])})
	if err != nil {
		return "" // cannot be: bytes and this key have a form
	}
	return value
}

// CheckDigest compares the lines of a Content-Digest field with the body that
// came. All of its digests that are SHA-256 or SHA-512 have to hold, and there
// has to be one; others say nothing.
func CheckDigest(lines []string, body []byte) error {
	fields, err := Dictionary(lines)
	if err != nil {
		return fmt.Errorf("Content-Digest: %w", err)
	}
	checked := false
	for _, field := range fields {
		var want []byte
		switch field.Name {
		case "sha-256":
			sum := sha256.Sum256(body)
			want = sum[:]
		case "sha-512":
			sum := sha512.Sum512(body)
			want = sum[:]
		default:
			continue
		}
		if field.Value.Kind != structured.Bytes || !bytes.Equal(field.Value.Bytes, want) {
			return ErrDigest
		}
		checked = true
	}
	if !checked {
		return ErrNoDigest
	}
	return nil
}
