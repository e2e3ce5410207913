package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/MicahParks/jwkset"
)

// The sizes of RSA keys that are taken: what is smaller is weak, what is larger
// costs too much to use.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// readKey reads a public key (RFC 7517, section 4). Certificates and addresses of
// certificates are not looked at.
func readKey(members map[string]any) (jwkset.JWK, error) {
	key, err := jwkset.NewJWKFromMarshal(jwkset.JWKMarshal{
		KTY: jwkset.KTY(text(members, "kty")), CRV: jwkset.CRV(text(members, "crv")),
		X: text(members, "x"), Y: text(members, "y"), N: text(members, "n"), E: text(members, "e"),
		KID: text(members, "kid"), ALG: jwkset.ALG(text(members, "alg")), USE: jwkset.USE(text(members, "use")),
	}, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{SkipKeyOps: true, SkipUse: true})
	if err != nil {
		return jwkset.JWK{}, err
	}
	switch public := key.Key().(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return jwkset.JWK{}, fmt.Errorf("an RSA key has %d bits", bits)
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return jwkset.JWK{}, errors.New("the key signs nothing")
	}
	return key, nil
}

// thumbprint returns the SHA-256 thumbprint of a public key that readKey took
// (RFC 7638, section 3; RFC 8037, section 2).
func thumbprint(members map[string]any) string {
	member := func(name string) string { return `"` + name + `":"` + text(members, name) + `"` }
	var canonical string
	switch text(members, "kty") {
	case "EC":
		canonical = member("crv") + "," + member("kty") + "," + member("x") + "," + member("y")
	case "OKP":
		canonical = member("crv") + "," + member("kty") + "," + member("x")
	case "RSA":
		canonical = member("e") + "," + member("kty") + "," + member("n")
	}
	return digest("{" + canonical + "}")
}

// digest is the SHA-256 of a text in base64url, as thumbprints and hashes of
// tokens are written.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// private reports whether a key has members that only its owner may know (RFC
// 7518, section 6).
func private(members map[string]any) bool {
	for _, name := range [...]string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, ok := members[name]; ok {
			return true
		}
	}
	return false
}
