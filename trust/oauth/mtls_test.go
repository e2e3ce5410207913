package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// certificate makes a client certificate that nobody vouches for.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func boundTo(cert tls.Certificate) change {
	return func(claims jwt.MapClaims, _ map[string]any) {
		sum := sha256.Sum256(cert.Certificate[0])
		claims["cnf"] = map[string]any{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}
	}
}

// A token that is bound to a certificate is worth something over a connection that has
// it (RFC 8705, section 3).
func TestMTLS(t *testing.T) {
	mine, other := certificate(t), certificate(t)
	for _, test := range []struct {
		name    string
		show    *tls.Certificate
		bound   bool
		binding oauth.Binding
		want    int
	}{
		{"the certificate", &mine, true, oauth.BindingOptional, 200},
		{"another", &other, true, oauth.BindingOptional, 401},
		{"none", nil, true, oauth.BindingOptional, 401},
		{"a token for anybody", nil, false, oauth.BindingOptional, 200},
		{"required", &mine, true, oauth.BindingRequired, 200},
		{"required, and a token for anybody", &mine, false, oauth.BindingRequired, 401},
		{"refused", &mine, true, oauth.BindingRefused, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, setting{
				oauth: func(o *oauth.Options) { o.Resources[1].MTLS = test.binding },
				server: func(s *httptest.Server) func() {
					s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
					return s.StartTLS
				},
			})
			if test.show != nil {
				w.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{*test.show}
			}
			var changes []change
			if test.bound {
				changes = append(changes, boundTo(mine))
			}
			if got := w.call(t, "whoami", w.token(t, "/api", "", changes...)); got.status != test.want {
				t.Errorf("want %d, got %d %s %s", test.want, got.status, got.challenge, w.log)
			}
			document := w.send(t, w.request(t, http.MethodGet, wellKnown+"/api", "", "")).body
			if got := strings.Contains(document, `"tls_client_certificate_bound_access_tokens":true`); got != (test.binding == oauth.BindingRequired) {
				t.Errorf("metadata: %s", document)
			}
		})
	}
}

// Behind a proxy that ends TLS, the proxy says which certificate it was; anybody else
// says nothing by it (RFC 9440).
func TestMTLSBehindProxy(t *testing.T) {
	mine := certificate(t)
	for _, test := range []struct {
		name         string
		proxies      []string
		certificates bool
		want         int
	}{
		{"of a proxy that says it", []string{"127.0.0.1/32"}, true, 200},
		{"of a proxy that passes it on", []string{"127.0.0.1/32"}, false, 401},
		{"of anybody", nil, false, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, setting{trust: func(o *trust.Options) {
				o.ProxyCertificates = test.certificates
				if o.Proxies = test.proxies; test.proxies != nil {
					o.ProxyHeader = "X-Forwarded-For"
				}
			}})
			got := w.call(t, "whoami", w.token(t, "/api", "", boundTo(mine)), func(r *http.Request) {
				r.Header.Set("Client-Cert", ":"+base64.StdEncoding.EncodeToString(mine.Certificate[0])+":")
				r.Header.Set("X-Forwarded-For", "203.0.113.9")
			})
			if got.status != test.want {
				t.Errorf("want %d, got %d %s %s", test.want, got.status, got.challenge, w.log)
			}
		})
	}
}
