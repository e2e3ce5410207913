package oauth

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// base64url reads one spelling of each text (RFC 7515, section 2), so that nobody
// can write a token in another way that is not known yet.
var base64url = base64.RawURLEncoding.Strict()

// signed is a JSON Web Signature in its compact form (RFC 7515, section 7.1), taken
// apart and not checked. Names that come twice in header or claims are refused, so
// that nobody else can have read another one.
type signed struct {
	header, claims map[string]any
	method         jwt.SigningMethod
	input          string // what the signature is over
	signature      []byte
}

// parse takes a signature apart. Algorithms are asymmetric ones alone, so that no
// public key can pass for a secret (RFC 8725, section 3.1).
func parse(token string) (s signed, err error) {
	header, rest, _ := strings.Cut(token, ".")
	claims, signature, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(signature, ".") {
		return signed{}, errors.New("the token has not three parts")
	}
	if s.header, err = part(header); err != nil {
		return signed{}, err
	}
	algorithm := text(s.header, "alg")
	if !slices.Contains(algorithms, algorithm) {
		return signed{}, errors.New("the token is not signed by an algorithm that is known here")
	}
	if _, ok := s.header["crit"]; ok {
		return signed{}, errors.New("the token's header has something critical that is not known (RFC 7515, section 4.1.11)")
	}
	if s.claims, err = part(claims); err != nil {
		return signed{}, err
	}
	if s.signature, err = base64url.DecodeString(signature); err != nil {
		return signed{}, errors.New("the token's signature is no base64url")
	}
	s.method, s.input = jwt.GetSigningMethod(algorithm), token[:len(header)+1+len(claims)]
	return s, nil
}

// part reads a part that is a JSON object.
func part(encoded string) (map[string]any, error) {
	raw, err := base64url.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("a part of the token is no base64url")
	}
	members, err := object(raw)
	if err != nil {
		return nil, errors.New("a part of the token is no JSON object")
	}
	return members, nil
}

// verify checks the signature with a key, or with one of several where the token does
// not say which it is.
func (s *signed) verify(key any) error {
	keys := []jwt.VerificationKey{key}
	if set, ok := key.(jwt.VerificationKeySet); ok {
		keys = set.Keys
	}
	for _, key := range keys {
		if s.method.Verify(s.input, s.signature, key) == nil {
			return nil
		}
	}
	return errors.New("the signature is not by the key")
}
