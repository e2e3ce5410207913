package webbotauth_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// sites answers with the path's own kind of response.
func sites() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/refused", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made")
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range 4 {
			_, _ = io.WriteString(w, strings.Repeat("x", 40))
		}
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "one")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "two")
	})
	return mux
}

func TestSignedResponses(t *testing.T) {
	key := webbotauth.GenerateKey()
	handler, err := webbotauth.SignResponses(sites(), webbotauth.ResponseOptions{Key: key, MaxBody: 100})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	keys := []webbotauth.Key{webbotauth.GenerateKey().Public(), key.Public()}
	for _, test := range []struct {
		path, body string
		status     int
		signed     bool
	}{
		{"/text", "hello", 200, true},
		{"/empty", "", 200, true},
		{"/refused", "no\n", 403, true},
		{"/early", "made", 201, true},
		{"/none", "", 204, false},
		{"/large", strings.Repeat("x", 160), 200, false},
		{"/stream", "onetwo", 200, false},
	} {
		t.Run(test.path, func(t *testing.T) {
			r := outgoing(t, "GET", server.URL+test.path, "")
			nonce, err := webbotauth.AskForResponse(r)
			if err != nil {
				t.Fatal(err)
			}
			response, body := do(t, r)
			if response.StatusCode != test.status || body != test.body {
				t.Errorf("%d %q, want %d %q", response.StatusCode, body, test.status, test.body)
			}
			err = webbotauth.CheckResponse(response, []byte(body), nonce, keys, time.Minute)
			if (err == nil) != test.signed {
				t.Errorf("signed %v, want %v: %v", err == nil, test.signed, err)
			}
			if !test.signed {
				return
			}
			for name, change := range map[string]func() error{
				"body":  func() error { return webbotauth.CheckResponse(response, []byte(body+"x"), nonce, keys, time.Minute) },
				"nonce": func() error { return webbotauth.CheckResponse(response, []byte(body), nonce+"x", keys, time.Minute) },
				"none":  func() error { return webbotauth.CheckResponse(response, []byte(body), "", keys, time.Minute) },
				"keys":  func() error { return webbotauth.CheckResponse(response, []byte(body), nonce, keys[:1], time.Minute) },
				"age":   func() error { return webbotauth.CheckResponse(response, []byte(body), nonce, keys, -time.Hour) },
				"status": func() error {
					other := *response
					other.StatusCode++
					return webbotauth.CheckResponse(&other, []byte(body), nonce, keys, time.Minute)
				},
				"digest": func() error {
					other := *response
					other.Header = response.Header.Clone()
					other.Header.Set("Content-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
					return webbotauth.CheckResponse(&other, nil, nonce, keys, time.Minute)
				},
			} {
				if name == "digest" && body == "" {
					continue
				}
				if change() == nil {
					t.Errorf("another %s: no error", name)
				}
			}
		})
	}
}

func TestResponsesAreSignedForThoseWhoAsk(t *testing.T) {
	handler, err := webbotauth.SignResponses(sites(), webbotauth.ResponseOptions{Key: webbotauth.GenerateKey()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	const wish = `x=("@status" "content-digest");created;nonce="0123456789abcdef";tag="ambit-response"`
	for _, test := range []struct {
		name, method, accept string
		want                 bool
	}{
		{"asked", "GET", wish, true},
		{"among others", "GET", `y=("@method");tag="web-bot-auth", ` + wish, true},
		{"not asked", "GET", "", false},
		{"another tag", "GET", strings.Replace(wish, "ambit-response", "x", 1), false},
		{"short nonce", "GET", strings.Replace(wish, "0123456789", "", 1), false},
		{"no nonce", "GET", `x=("@status" "content-digest");created;tag="ambit-response"`, false},
		{"unreadable", "GET", `x=(`, false},
		{"HEAD", "HEAD", wish, false},
	} {
		r := outgoing(t, test.method, server.URL+"/text", "")
		if test.accept != "" {
			r.Header.Set("Accept-Signature", test.accept)
		}
		response, _ := do(t, r)
		if got := response.Header.Get("Signature") != ""; got != test.want {
			t.Errorf("%s: signed %v, want %v", test.name, got, test.want)
		}
	}
	for _, o := range []webbotauth.ResponseOptions{{}, {Key: webbotauth.GenerateKey(), MaxBody: -1}} {
		if _, err := webbotauth.SignResponses(sites(), o); err == nil {
			t.Errorf("%v: no error", o)
		}
	}
}

func do(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return response, string(body)
}

func TestDirectoryHandler(t *testing.T) {
	key, next := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	handler, err := webbotauth.DirectoryHandler(webbotauth.DirectoryOptions{
		Keys: []webbotauth.Key{key.Public(), next.Public()}, URL: agentURL, Sign: []webbotauth.PrivateKey{key, next},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	response, body := do(t, outgoing(t, "GET", server.URL+webbotauth.WellKnown, ""))
	h := response.Header
	got := fmt.Sprintln(response.StatusCode, h.Get("Content-Type"), h.Get("Cache-Control"), h.Get("Access-Control-Allow-Origin"), len(h.Get("ETag")) > 10)
	if want := "200 application/http-message-signatures-directory+json public, max-age=3600 * true\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	keys, skipped, err := webbotauth.ParseKeySet([]byte(body), true)
	if err != nil || len(skipped) > 0 || len(keys) != 2 || keys[key.Public().Thumbprint()] != key.Public() {
		t.Errorf("keys %v, %v, %v", keys, skipped, err)
	}
	head, _ := do(t, outgoing(t, "HEAD", server.URL, ""))
	if head.StatusCode != 200 || head.ContentLength != int64(len(body)) || head.Header.Get("ETag") != h.Get("ETag") {
		t.Errorf("HEAD: %d, %d bytes", head.StatusCode, head.ContentLength)
	}
	again := outgoing(t, "GET", server.URL, "")
	again.Header.Set("If-None-Match", h.Get("ETag"))
	if response, body := do(t, again); response.StatusCode != 304 || body != "" {
		t.Errorf("with the ETag: %d %q", response.StatusCode, body)
	}
	if response, _ := do(t, outgoing(t, "POST", server.URL, "x")); response.StatusCode != 405 || response.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", response.StatusCode, response.Header.Get("Allow"))
	}
	for _, o := range []webbotauth.DirectoryOptions{
		{},
		{Keys: make([]webbotauth.Key, 21)},
		{Keys: []webbotauth.Key{{}}},
		{Keys: []webbotauth.Key{key.Public()}, MaxAge: -1},
		{Keys: []webbotauth.Key{key.Public()}, Sign: []webbotauth.PrivateKey{key}},
		{Keys: []webbotauth.Key{key.Public()}, URL: agentURL + "/alice", Sign: []webbotauth.PrivateKey{key}},
		{Keys: []webbotauth.Key{key.Public()}, URL: agentURL, Sign: []webbotauth.PrivateKey{next}},
		{Keys: []webbotauth.Key{key.Public()}, URL: agentURL, Sign: []webbotauth.PrivateKey{key, key, key, key, key}},
	} {
		if _, err := webbotauth.DirectoryHandler(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
