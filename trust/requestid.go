package trust

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

// RequestIDHeader is the header that carries a request's id, in and out.
const RequestIDHeader = "X-Request-Id"

const maxRequestID = 64

// RequestID returns the id that a request goes by in records and answers: its
// X-Request-Id where that is one value of 1 to 64 letters, digits, underscores
// and hyphens, else a random one of 32 hexadecimal digits.
func RequestID(r *http.Request) string {
	if given := r.Header[RequestIDHeader]; len(given) == 1 && validRequestID(given[0]) {
		return given[0]
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails (Go 1.24)
	var id [2 * len(random)]byte
	hex.Encode(id[:], random[:])
	return string(id[:])
}

func validRequestID(s string) bool {
	if s == "" || len(s) > maxRequestID {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
