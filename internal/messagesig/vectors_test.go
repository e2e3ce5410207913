package messagesig_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

// exchange is a file of testdata.
type exchange struct {
	Key      struct{ X, D string }
	Method   string
	URL      string
	Headers  [][2]string
	Body     string
	Request  struct{ URL string }
	Response struct {
		Status  int
		Headers [][2]string
		Body    string
	}
}

func read(t *testing.T, name string) (x exchange) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

func decode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// requestMessage is what a server sees of a request.
func requestMessage(r *http.Request) *messagesig.Message {
	return &messagesig.Message{
		Method: r.Method, Scheme: "https", Authority: messagesig.Authority("https", r.Host),
		Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header,
	}
}

// The request of RFC 9421, appendix B.2.6, verifies after it came through a real
// server, from a client that writes the host in capitals, and signing it anew
// gives the same signature.
func TestRFC9421_B26(t *testing.T) {
	x := read(t, "rfc9421_b26.json")
	public := ed25519.PublicKey(decode(t, x.Key.X))
	private := ed25519.NewKeyFromSeed(decode(t, x.Key.D))

	type result struct {
		verified, digest bool
		input, signature string
		err              error
	}
	results := make(chan result, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var got result
		defer func() { results <- got }()
		message := requestMessage(r)
		signatures, err := messagesig.Parse(r.Header["Signature-Input"], r.Header["Signature"])
		if err != nil || len(signatures) != 1 {
			got.err = fmt.Errorf("%d signatures, %w", len(signatures), err)
			return
		}
		base, err := signatures[0].Base(message)
		if err != nil {
			got.err = err
			return
		}
		got.verified = ed25519.Verify(public, base, signatures[0].Value())
		body, _ := io.ReadAll(r.Body)
		got.digest = messagesig.CheckDigest(r.Header["Content-Digest"], body) == nil
		got.input, got.signature = r.Header.Get("Signature-Input"), r.Header.Get("Signature")
		value := signatures[0].Value()
		if again := ed25519.Sign(private, base); string(again) != string(value) {
			got.err = fmt.Errorf("signing the base anew gives %x", again)
		}
	}))
	defer server.Close()

	target, err := url.Parse(x.URL)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\n", x.Method, target.RequestURI())
	for _, h := range x.Headers {
		if h[0] == "Host" {
			h[1] = strings.ToUpper(h[1])
		}
		fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
	}
	text.WriteString("Connection: close\r\n\r\n" + x.Body)
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, text.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(connection), nil); err != nil {
		t.Fatal(err)
	}
	got := <-results
	if got.err != nil || !got.verified || !got.digest {
		t.Errorf("verified %v, digest holds %v, %v", got.verified, got.digest, got.err)
	}
}

// The signed response of a directory, whose signature covers the host of the
// request that it answers.
func TestDirectoryResponse(t *testing.T) {
	x := read(t, "webbotauth_directory_response.json")
	public := ed25519.PublicKey(decode(t, read(t, "rfc9421_b26.json").Key.X))
	header := http.Header{}
	for _, h := range x.Response.Headers {
		header.Add(h[0], h[1])
	}
	signatures, err := messagesig.Parse(header["Signature-Input"], header["Signature"])
	if err != nil || len(signatures) != 1 {
		t.Fatalf("%d signatures, %v", len(signatures), err)
	}
	message := &messagesig.Message{
		Status: x.Response.Status, Header: header,
		Request: &messagesig.Message{Method: http.MethodGet, Scheme: "https", Authority: "signature-agent.test", Header: http.Header{}},
	}
	base, err := signatures[0].Base(message)
	if err != nil {
		t.Fatal(err)
	}
	want := "\"@authority\";req: signature-agent.test\n" +
		"\"content-digest\": sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:\n" +
		"\"@signature-params\": (\"@authority\";req \"content-digest\");created=1735689600;expires=4889289600;" +
		"keyid=\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U\";tag=\"http-message-signatures-directory\""
	if diff := cmp.Diff(want, string(base)); diff != "" {
		t.Errorf("base (-want +got):\n%s", diff)
	}
	if !ed25519.Verify(public, base, signatures[0].Value()) {
		t.Error("the signature does not verify")
	}
	if err := messagesig.CheckDigest(header["Content-Digest"], []byte(x.Response.Body)); err != nil {
		t.Error(err)
	}
}
