package trust

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
)

// ClientCertificate returns the certificate whose key the sender of a request has
// proved to hold, for an [Authenticator] to bind a credential to (RFC 8705,
// section 3). Nil and no error: it has shown none. It is that of the TLS
// connection; where the connection is that of one of [Options.Proxies], it is never
// the proxy's own, and with [Options.ProxyCertificates] the one in the Client-Cert
// header (RFC 9440, section 2), which nobody else can say anything by. An error: the proxy's header is none.
//
// That somebody holds the key does not mean that anybody vouches for the names in
// the certificate. Whoever goes by these has to see to it that the chain is
// verified, by tls.Config.ClientAuth or by the proxy.
func ClientCertificate(r *http.Request) (*x509.Certificate, error) {
	believed, proxied := r.Context().Value(viaProxy{}).(bool)
	if !proxied {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return nil, nil
		}
		return r.TLS.PeerCertificates[0], nil
	}
	switch values := r.Header["Client-Cert"]; {
	case !believed || len(values) == 0:
		return nil, nil
	case len(values) == 1:
		return parseCertificate(values[0])
	default:
		return nil, errors.New("trust: the proxy sent more than one Client-Cert header")
	}
}

// parseCertificate reads a byte sequence (RFC 9651, section 3.3.5) of DER.
func parseCertificate(value string) (*x509.Certificate, error) {
	if len(value) < 2 || value[0] != ':' || value[len(value)-1] != ':' {
		return nil, errors.New("trust: the proxy's Client-Cert header is no byte sequence")
	}
	der, err := base64.StdEncoding.Strict().DecodeString(value[1 : len(value)-1])
	if err != nil {
		return nil, errors.New("trust: the proxy's Client-Cert header is no base64")
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, errors.New("trust: the proxy's Client-Cert header holds no certificate")
	}
	return certificate, nil
}
