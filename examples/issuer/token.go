package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"
)

// lifetime is how long a token holds.
const lifetime = 10 * time.Minute

// keyID names the one key that an issuer has.
const keyID = "development"

// signer returns what makes access tokens of claims (RFC 9068), signed by ES256
// (RFC 7518, section 3.4).
func signer(key *ecdsa.PrivateKey) func(claims map[string]any) (string, error) {
	return func(claims map[string]any) (string, error) {
		header, err := json.Marshal(map[string]string{"typ": "at+jwt", "alg": "ES256", "kid": keyID})
		if err != nil {
			return "", err
		}
		payload, err := json.Marshal(claims)
		if err != nil {
			return "", err
		}
		text := base64url(header) + "." + base64url(payload)
		sum := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return "", err
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return text + "." + base64url(signature), nil
	}
}

// keySet returns the JWK Set of the key's public half (RFC 7517; RFC 7518, section
// 6.2).
func keySet(key *ecdsa.PrivateKey) (map[string]any, error) {
	point, err := key.PublicKey.Bytes() // a 4, then both coordinates
	if err != nil {
		return nil, err
	}
	return map[string]any{"keys": []map[string]any{{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": keyID,
		"x": base64url(point[1:33]), "y": base64url(point[33:]),
	}}}, nil
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
