package outbound_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/internal/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "172.15.0.1": true, "172.32.0.1": true, "100.128.0.1": true,
		"2606:4700::1111": true, "2a00:1450::1": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false, "127.0.0.1": false, "127.9.9.9": false,
		"169.254.169.254": false, "172.16.0.1": false, "192.0.0.8": false, "192.0.2.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::127.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "100::1": false, "2001::1": false, "2001:db8::1": false,
		"2002:7f00:1::": false, "3fff::1": false, "fc00::1": false, "fd00::1": false, "fe80::1": false, "fec0::1": false, "ff02::1": false,
		"2606:4700::1%eth0": false,
	} {
		if got := outbound.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("Public(%s) = %v, want %v", address, got, want)
		}
	}
	if outbound.Public(netip.Addr{}) {
		t.Error("Public(no address) = true, want false")
	}
}

func TestCheck(t *testing.T) {
	inside := outbound.Options{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Ports: []int{8443}}
	here := outbound.Options{Loopback: true}
	for _, test := range []struct {
		name    string
		options outbound.Options
		url     string
		want    string // part of the error, "" for none
	}{
		{"public name", outbound.Options{}, "https://keys.example.com/set", ""},
		{"public address", outbound.Options{}, "https://93.184.216.34/set", ""},
		{"http", outbound.Options{}, "http://keys.example.com/set", "only https"},
		{"file", outbound.Options{}, "file:///etc/passwd", "not absolute"},
		{"relative", outbound.Options{}, "/set", "not absolute"},
		{"opaque", outbound.Options{}, "https:keys", "not absolute"},
		{"password", outbound.Options{}, "https://a:b@keys.example.com/", "user or password"},
		{"metadata service", outbound.Options{}, "https://169.254.169.254/", "not a public address"},
		{"mapped", outbound.Options{}, "https://[::ffff:127.0.0.1]/", "not a public address"},
		{"port", outbound.Options{}, "https://93.184.216.34:22/", "port 22"},
		{"listed port", inside, "https://93.184.216.34:8443/", ""},
		{"listed network", inside, "https://10.1.2.3/", ""},
		{"listed network, other port", inside, "https://10.1.2.3:22/", "port 22"},
		{"another network", inside, "https://10.2.2.3/", "not a public address"},
		{"loopback", here, "http://127.0.0.1:8080/", ""},
		{"localhost", here, "http://localhost:8080/", ""},
		{"http elsewhere", here, "http://keys.example.com/", "only https"},
		{"loopback not allowed", outbound.Options{}, "https://127.0.0.1/", "not a public address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			err = test.options.Check(u)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check(%s): want an error with %q, got %v", test.url, test.want, err)
			}
		})
	}
}

func get(t *testing.T, o outbound.Options, address string) (string, error) {
	t.Helper()
	o.Timeout = time.Hour // however slow the machine is
	client := outbound.New(o)
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// A name is judged by the address that it stands for when the connection is
// made.
func TestNameOfThisMachine(t *testing.T) {
	served := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	_, err := get(t, outbound.Options{}, "https://localhost:"+port)
	if err == nil || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf("want the address refused, got %v", err)
	}
	if served {
		t.Error("the server was reached")
	}
}

func TestCertificateIsChecked(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	if _, err := get(t, outbound.Options{Loopback: true}, server.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("want an error about the certificate, got %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	if body, err := get(t, outbound.Options{Loopback: true, Roots: roots}, server.URL); err != nil || body != "hello" {
		t.Errorf("with the certificate: %q, %v", body, err)
	}
}

func TestAnswers(t *testing.T) {
	handler := http.NewServeMux()
	handler.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/text", http.StatusFound) })
	handler.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 100)) })
	handler.HandleFunc("/declared", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "101")
		_, _ = io.WriteString(w, strings.Repeat("x", 101))
	})
	handler.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		for range 101 {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
	})
	handler.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packer := gzip.NewWriter(w)
		_, _ = packer.Write([]byte(strings.Repeat("x", 1<<20)))
		_ = packer.Close()
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	o := outbound.Options{Loopback: true, Bytes: 100}

	if body, err := get(t, o, server.URL+"/text"); err != nil || len(body) != 100 {
		t.Errorf("a body of just the size: %d bytes, %v", len(body), err)
	}
	for _, path := range []string{"/declared", "/stream", "/packed"} {
		if body, err := get(t, o, server.URL+path); !errors.Is(err, outbound.ErrTooLarge) || len(body) > 100 {
			t.Errorf("%s: %d bytes, %v, want ErrTooLarge", path, len(body), err)
		}
	}
	if _, err := get(t, o, server.URL+"/redirect"); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
		t.Errorf("redirect: %v", err)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied = true }))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	_, err := get(t, outbound.Options{Loopback: true}, "https://203.0.113.7/")
	if err == nil || proxied {
		t.Errorf("err = %v, proxied = %v: want an error without the proxy", err, proxied)
	}
}

// Connections that are kept end when the owner says so; TestMain would see what
// is left.
func TestKeepConnections(t *testing.T) {
	by := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { by[r.RemoteAddr]++ }))
	defer server.Close()
	for keep, most := range map[bool]int{false: 3, true: 100} {
		clear(by)
		client := outbound.New(outbound.Options{Loopback: true, KeepConnections: keep, Timeout: time.Hour})
		// A connection is not kept whose answer came before its request was wholly sent,
		// as on a busy machine: one of many is.
		sent := 0
		for ; sent < most && sent == len(by); sent++ {
			response, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		client.CloseIdleConnections()
		if kept := sent > len(by); kept != keep {
			t.Errorf("kept %t: %d requests took %d connections", keep, sent, len(by))
		}
	}
}

func TestPortOf(t *testing.T) {
	for text, want := range map[string]int{"https://a.test/": 0, "https://a.test:8443/": 8443, "https://[::1]:1/": 1} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := outbound.PortOf(u); got != want {
			t.Errorf("PortOf(%s) = %d, want %d", text, got, want)
		}
	}
}
