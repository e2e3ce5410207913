package trust_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// certificate makes a certificate that signs itself.
func certificate(t testing.TB, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func clientCert(der []byte) string { return ":" + base64.StdEncoding.EncodeToString(der) + ":" }

// Only a proxy says which certificate somebody else has shown, and its own is
// never taken for a sender's.
func TestT28_ClientCertificate(t *testing.T) {
	t.Parallel()
	mine, proxys := certificate(t, "mine"), certificate(t, "the proxy's")
	shown := func(c *x509.Certificate) func(*http.Request) {
		return func(r *http.Request) { r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c}} }
	}
	says := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Client-Cert"] = values }
	}
	proxy, stranger := from("10.0.0.7:1"), from("198.51.100.1:1")
	good := clientCert(mine.Raw)
	for _, tt := range []struct {
		name   string
		adjust []func(*http.Request)
		want   string
	}{
		{"nothing", []func(*http.Request){stranger}, "none"},
		{"TLS", []func(*http.Request){stranger, shown(mine)}, "mine"},
		{"a stranger's header", []func(*http.Request){stranger, says(good)}, "none"},
		{"a stranger's header beside TLS", []func(*http.Request){stranger, says(clientCert(proxys.Raw)), shown(mine)}, "mine"},
		{"a proxy's header", []func(*http.Request){proxy, says(good)}, "mine"},
		{"a proxy's header beside its own certificate", []func(*http.Request){proxy, says(good), shown(proxys)}, "mine"},
		{"a proxy's own certificate", []func(*http.Request){proxy, shown(proxys)}, "none"},
		{"a proxy without anything", []func(*http.Request){proxy}, "none"},
		{"two headers", []func(*http.Request){proxy, says(good, good)}, "error"},
		{"no byte sequence", []func(*http.Request){proxy, says(strings.Trim(good, ":"))}, "error"},
		{"no base64", []func(*http.Request){proxy, says(":?:")}, "error"},
		{"no certificate", []func(*http.Request){proxy, says(clientCert([]byte("x")))}, "error"},
		{"two certificates in one", []func(*http.Request){proxy, says(clientCert(append(mine.Raw, mine.Raw...)))}, "error"},
		{"empty", []func(*http.Request){proxy, says("")}, "error"},
		{"one colon", []func(*http.Request){proxy, says(":")}, "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := "not asked"
			asks := fake{name: "certificate", authenticate: func(r *http.Request) (*trust.Identity, error) {
				c, err := trust.ClientCertificate(r)
				switch {
				case err != nil:
					got = "error"
				case c == nil:
					got = "none"
				default:
					got = c.Subject.CommonName
				}
				return nil, nil
			}}
			guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{asks}, Proxies: []string{"10.0.0.0/24"}, ProxyHeader: "X-Forwarded-For", ProxyCertificates: true})
			_, _ = guard.Admit(request(tt.adjust...))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("certificate (-want +got):\n%s", diff)
			}
		})
	}
}

// A proxy that was named for addresses alone is not believed about certificates: most
// pass on what a sender has put into the header.
func TestT28_ClientCertificateOfAPlainProxy(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(*http.Request){
		"header": func(*http.Request) {},
		"header and connection": func(r *http.Request) {
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate(t, "the proxy's")}}
		},
	} {
		asked := false
		asks := fake{name: "certificate", authenticate: func(r *http.Request) (*trust.Identity, error) {
			asked = true
			if c, err := trust.ClientCertificate(r); c != nil || err != nil {
				t.Errorf("%s: want no certificate, got %v, %v", name, c, err)
			}
			return nil, nil
		}}
		guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{asks}, Proxies: []string{"10.0.0.0/24"}, ProxyHeader: "X-Forwarded-For"})
		_, _ = guard.Admit(request(from("10.0.0.7:1"), header("Client-Cert", clientCert(certificate(t, "mine").Raw)), adjust))
		if !asked {
			t.Errorf("%s: the authenticator was not asked", name)
		}
	}
	_, err := trust.NewGuard(newApp(ambit.Options{}), trust.Options{ProxyCertificates: true})
	if err == nil || !strings.Contains(err.Error(), "Options.ProxyCertificates is set and Options.Proxies is empty") {
		t.Errorf("without proxies: want an error that names the setting, got %v", err)
	}
}

// An authenticator that looks into the body leaves it whole, also behind a proxy.
func TestPeekBehindAProxy(t *testing.T) {
	t.Parallel()
	const body = `{"jsonrpc":"2.0"}`
	peeks := fake{name: "peeks", authenticate: func(r *http.Request) (*trust.Identity, error) {
		if front, e := trust.Peek(r, 100); e != nil || string(front) != body {
			return nil, e
		}
		return identity("alice"), nil
	}}
	guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{peeks}, Proxies: []string{"10.0.0.0/24"}, ProxyHeader: "X-Forwarded-For", ProxyCertificates: true})
	r := request(from("10.0.0.7:1"), func(r *http.Request) {
		r.Header.Set("Client-Cert", clientCert(certificate(t, "mine").Raw))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	})
	who, e := guard.Admit(r)
	if e != nil || who.Principal.Subject != "alice" {
		t.Fatalf("want alice, got %v, %v", who, e)
	}
	if rest, err := io.ReadAll(r.Body); err != nil || string(rest) != body {
		t.Errorf("body: want it whole, got %q, %v", rest, err)
	}
}

func FuzzClientCert(f *testing.F) {
	f.Add(clientCert(certificate(f, "mine").Raw))
	f.Add("::")
	f.Add(":")
	f.Fuzz(func(t *testing.T, value string) {
		asks := fake{name: "certificate", authenticate: func(r *http.Request) (*trust.Identity, error) {
			if c, err := trust.ClientCertificate(r); (c == nil) == (err == nil) {
				t.Errorf("want a certificate or an error, got %v, %v", c, err)
			}
			return nil, nil
		}}
		guard, err := trust.NewGuard(newApp(ambit.Options{}), trust.Options{Authenticators: []trust.Authenticator{asks}, Proxies: []string{"10.0.0.7"}, ProxyHeader: "X-Forwarded-For", ProxyCertificates: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = guard.Admit(request(from("10.0.0.7:1"), func(r *http.Request) { r.Header["Client-Cert"] = []string{value} }))
	})
}
