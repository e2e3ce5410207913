package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// proofFor is how long after its making a proof is taken.
	proofFor = time.Minute
	// maxProof and maxProofID are how many bytes a proof and its id may have.
	maxProof   = 8 << 10
	maxProofID = 256
)

var errNonce = errors.New("the DPoP proof has no nonce of this server, or an old one")

// proof is a DPoP proof whose form, key and signature are right (RFC 9449, section
// 4.3, points 1 to 7 and 10 to 12).
type proof struct {
	id     string
	issued time.Time
}

// prove checks the proof of a request for a token that is bound to a key, and that
// it was not used before.
func (a *Authenticator) prove(r *http.Request, at *resource, token string, v *verified) error {
	p, err := a.readProof(r, at, token, v.key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), recordWithin)
	defer cancel()
	key := digest(v.identity.Principal.Key()) + "." + digest(v.key+"."+p.id)
	switch fresh, err := a.replays.Record(ctx, key, p.issued.Add(proofFor+leeway)); {
	case err != nil:
		return unavailable("the record of DPoP proofs: " + err.Error())
	case !fresh:
		return errors.New("the DPoP proof was used before")
	}
	return nil
}

// readProof checks all of a proof that can be checked without a record.
func (a *Authenticator) readProof(r *http.Request, at *resource, token, key string) (proof, error) {
	header := r.Header["Dpop"]
	if len(header) != 1 || len(header[0]) > maxProof {
		return proof{}, errors.New("the request has no DPoP proof, or not one of a usual size")
	}
	s, err := parse(header[0])
	if err != nil {
		return proof{}, fmt.Errorf("DPoP proof: %w", err)
	}
	public, err := proofKey(s.header, key)
	if err != nil {
		return proof{}, fmt.Errorf("DPoP proof: %w", err)
	}
	if err := s.verify(public); err != nil {
		return proof{}, fmt.Errorf("DPoP proof: %w", err)
	}
	all := s.claims
	p := proof{id: text(all, "jti")}
	issued, there, err := timeOf(all, "iat")
	switch now := time.Now(); {
	case err != nil || !there:
		return proof{}, errors.New("the DPoP proof does not say when it was made")
	case now.Add(leeway).Before(issued) || issued.Add(proofFor).Before(now):
		return proof{}, errors.New("the DPoP proof was made too long ago, or in a time to come")
	case p.id == "" || len(p.id) > maxProofID:
		return proof{}, errors.New("the DPoP proof has no jti, or too long a one")
	case text(all, "htm") != r.Method:
		return proof{}, errors.New("the DPoP proof is for another method")
	case !sameTarget(text(all, "htu"), at.origin, r.URL.EscapedPath()):
		return proof{}, errors.New("the DPoP proof is for another URL")
	case text(all, "ath") != digest(token):
		return proof{}, errors.New("the DPoP proof is for another token")
	case at.DPoPNonces && !a.nonces.valid(text(all, "nonce")):
		return proof{}, errNonce
	}
	p.issued = issued
	return p, nil
}

// proofKey takes the public key out of a proof's header. One other than the token's
// is refused before it is used for anything.
func proofKey(h header, want string) (any, error) {
	if h.typ != "dpop+jwt" {
		return nil, errors.New("it is not of type dpop+jwt")
	}
	members, err := object(h.jwk)
	if err != nil {
		return nil, errors.New("it has no key")
	}
	if private(members) {
		return nil, errors.New("it holds a private key, which is none any more")
	}
	if thumbprint(members) != want {
		return nil, errors.New("it is made with another key than the token is bound to")
	}
	key, err := readKey(members)
	if err != nil {
		return nil, fmt.Errorf("its key: %w", err)
	}
	return key.Key(), nil
}

// ownKey returns the thumbprint of the key that a proof itself names, "" for none.
func ownKey(r *http.Request) string {
	if header := r.Header["Dpop"]; len(header) == 1 && len(header[0]) <= maxProof {
		if s, err := parse(header[0]); err == nil {
			if members, err := object(s.header.jwk); err == nil {
				return thumbprint(members)
			}
		}
	}
	return ""
}

// sameTarget compares a proof's URL with the request's as clients know it, without
// query and fragment (RFC 9449, section 4.3, point 9).
func sameTarget(htu, origin, path string) bool {
	u, err := url.Parse(htu)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	slash := func(path string) string {
		if path == "" {
			return "/"
		}
		return path
	}
	return scheme+"://"+canonicalHost(scheme, u.Host) == origin && slash(u.EscapedPath()) == slash(path)
}

// dpopInvalidity says what is wrong with a request that was sent by the DPoP scheme
// and refused: the nonce, the proof, or the token.
func (a *Authenticator) dpopInvalidity(header http.Header, r *http.Request, at *resource) string {
	if at.DPoPNonces {
		header["Dpop-Nonce"] = []string{a.nonces.issue()}
	}
	c, refused := credentialOf(r)
	if refused != nil {
		return "invalid_token"
	}
	if a.options.Verify != nil { // which is not asked again for this
		if _, err := a.readProof(r, at, c.token, ownKey(r)); errors.Is(err, errNonce) {
			return "use_dpop_nonce"
		}
		return "invalid_token"
	}
	v, err := a.verify(r.Context(), c.token)
	if err != nil || v == nil || v.key == "" || a.allows(at, v) != nil {
		return "invalid_token"
	}
	if _, err := a.readProof(r, at, c.token, v.key); errors.Is(err, errNonce) {
		return "use_dpop_nonce"
	}
	return "invalid_dpop_proof"
}
