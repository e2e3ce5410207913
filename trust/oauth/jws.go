package oauth

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// maxHeaderDepth is how deep a header may nest: a key within it is the deepest that
// is of use.
const maxHeaderDepth = 8

// base64url reads one spelling of each text (RFC 7515, section 2), so that nobody
// can write a token in another way that is not known yet.
var base64url = base64.RawURLEncoding.Strict()

// signed is a JSON Web Signature in its compact form (RFC 7515, section 7.1), taken
// apart and not checked. Names that come twice in header or claims are refused, so
// that nobody else can have read another one.
type signed struct {
	header    header
	claims    map[string]any
	method    jwt.SigningMethod
	input     string // what the signature is over
	signature []byte
}

// header is what of a signature's header is used here.
type header struct {
	algorithm, typ string
	key            string // the id of the key that it is signed with
	named          bool   // whether it has such an id
	jwk            []byte // JSON text of the key that came along; nil: none
}

// parse takes a signature apart. Algorithms are asymmetric ones alone, so that no
// public key can pass for a secret (RFC 8725, section 3.1).
func parse(token string) (s signed, err error) {
	head, rest, _ := strings.Cut(token, ".")
	claims, signature, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(signature, ".") {
		return signed{}, errors.New("the token has not three parts")
	}
	raw, err := base64url.DecodeString(head)
	if err != nil {
		return signed{}, errors.New("the token's header is no base64url")
	}
	if s.header, err = readHeader(raw); err != nil {
		return signed{}, err
	}
	if !slices.Contains(algorithms, s.header.algorithm) {
		return signed{}, errors.New("the token is not signed by an algorithm that is known here")
	}
	if raw, err = base64url.DecodeString(claims); err != nil {
		return signed{}, errors.New("the token's claims are no base64url")
	}
	if s.claims, err = object(raw); err != nil {
		return signed{}, errors.New("the token's claims are no JSON object")
	}
	if s.signature, err = base64url.DecodeString(signature); err != nil {
		return signed{}, errors.New("the token's signature is no base64url")
	}
	s.method, s.input = jwt.GetSigningMethod(s.header.algorithm), token[:len(head)+1+len(claims)]
	return s, nil
}

// readHeader reads a header (RFC 7515, section 4). What it has beside is ignored, as
// section 4 says, but for what is critical.
func readHeader(raw []byte) (h header, err error) {
	var names strictjson.Keys
	members := strictjson.Members(raw, maxHeaderDepth)
	for members.Next() {
		if !names.Add(members.Key()) {
			return header{}, errors.New("the token's header has a member twice")
		}
		var to *string
		value := members.Value()
		switch string(members.Key()) {
		case "alg":
			to = &h.algorithm
		case "typ":
			to = &h.typ
		case "kid":
			to, h.named = &h.key, true
		case "jwk":
			h.jwk = value
		case "crit":
			return header{}, errors.New("the token's header has something critical that is not known (RFC 7515, section 4.1.11)")
		}
		switch {
		case to == nil:
		case value[0] != '"':
			return header{}, errors.New("the token's header has a member that should be a text")
		default:
			*to = string(strictjson.Unquote(value[1 : len(value)-1]))
		}
	}
	if members.Err() != nil {
		return header{}, errors.New("the token's header is no JSON object")
	}
	return h, nil
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
