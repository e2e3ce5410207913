package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/ambit-dev/ambit/trust"
)

// sender checks that a token is presented by whom it was made for, where it or the
// endpoint says so.
func (a *Authenticator) sender(r *http.Request, at *resource, c credential, v *verified) error {
	switch {
	case v.key != "" && at.DPoP == BindingRefused, v.cert != "" && at.MTLS == BindingRefused:
		return errors.New("the token is bound in a way that the endpoint refuses")
	case v.key == "" && at.DPoP == BindingRequired:
		return errors.New("the token is bound to no key, and the endpoint requires DPoP")
	case v.cert == "" && at.MTLS == BindingRequired:
		return errors.New("the token is bound to no certificate, and the endpoint requires one")
	case v.key != "" && !c.dpop:
		return errors.New("the token is bound to a key and was sent as a bearer token (RFC 9449, section 7.1)")
	case v.key == "" && c.dpop:
		return errors.New("the token was sent with DPoP and is bound to no key")
	}
	if v.cert != "" {
		if err := presents(r, v.cert); err != nil {
			return err
		}
	}
	if v.key != "" {
		return a.prove(r, at, c.token, v)
	}
	return nil
}

// presents checks that the sender has the private key of the certificate with this
// thumbprint, which the handshake has shown (RFC 8705, section 3.1). Who signed the
// certificate does not matter.
func presents(r *http.Request, want string) error {
	cert, err := trust.ClientCertificate(r)
	if err != nil {
		return err
	}
	if cert == nil {
		return errors.New("the token is bound to a certificate, and the request came without one")
	}
	sum := sha256.Sum256(cert.Raw)
	if subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(want)) != 1 {
		return errors.New("the token is bound to another certificate")
	}
	return nil
}
