package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"time"
)

// code is an authorization code (RFC 6749, section 4.1.2) and what it is for.
type code struct{ challenge, redirect, resource, scope, client string }

// authorize answers an authorization request at once, as if somebody had agreed
// (RFC 6749, section 4.1.1; RFC 7636; RFC 8707; RFC 9207).
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "not the request of a client that does as MCP says", http.StatusBadRequest)
		return
	}
	made := rand.Text()
	i.mu.Lock()
	i.codes[made] = code{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("resource"), q.Get("scope"), q.Get("client_id")}
	i.mu.Unlock()
	back.RawQuery = url.Values{"code": {made}, "state": {q.Get("state")}, "iss": {i.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token answers a request for a token, by an authorization code or by another token.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	var token string
	var err error
	scope := r.PostFormValue("scope")
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		token, scope, err = i.redeem(r)
	case "urn:ietf:params:oauth:grant-type:token-exchange":
		token, err = i.exchange(r)
	default:
		err = errors.New("unsupported_grant_type")
	}
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": scope,
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
	})
}

// redeem takes a code, once (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
func (i *Issuer) redeem(r *http.Request) (token, scope string, err error) {
	i.mu.Lock()
	c, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case !ok || c.challenge != base64url(sum[:]) || c.redirect != r.PostFormValue("redirect_uri"):
		return "", "", errors.New("invalid_grant")
	case c.resource != r.PostFormValue("resource"):
		return "", "", errors.New("invalid_target")
	}
	claims := i.Claims("alice", c.resource, c.scope)
	claims["client_id"] = c.client
	token, err = i.Token(claims, nil)
	return token, c.scope, err
}

// exchange makes a token for a service from one that the client was sent (RFC 8693).
func (i *Issuer) exchange(r *http.Request) (string, error) {
	if !i.client(r) {
		return "", errors.New("invalid_client")
	}
	subject, err := i.read(r.PostFormValue("subject_token"))
	if err != nil {
		return "", errors.New("invalid_grant")
	}
	who, _ := subject["sub"].(string)
	claims := i.Claims(who, r.PostFormValue("audience"), r.PostFormValue("scope"))
	claims["act"] = map[string]any{"sub": ClientID}
	claims["exp"] = time.Now().Add(time.Hour).Unix()
	return i.Token(claims, nil)
}

// JWK returns the members of a public key (RFC 7517; RFC 7518, section 6; RFC 8037,
// section 2).
func JWK(public crypto.PublicKey) (map[string]any, error) {
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		point, err := k.Bytes() // 4, then both coordinates
		if err != nil {
			return nil, err
		}
		size := len(point) / 2
		return map[string]any{"kty": "EC", "crv": k.Params().Name, "x": base64url(point[1 : 1+size]), "y": base64url(point[1+size:])}, nil
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "n": base64url(k.N.Bytes()), "e": base64url(big.NewInt(int64(k.E)).Bytes())}, nil
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": base64url(k)}, nil
	}
	return nil, errors.New("issuertest: a key of another kind")
}
