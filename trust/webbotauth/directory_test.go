package webbotauth_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// site stands for the server of a directory, on the false clock of synctest.
type site struct {
	mu      sync.Mutex
	fetches int
	keys    []webbotauth.Key
	fails   bool
	header  http.Header
	takes   time.Duration
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.fetches++
	keys, fails, header, takes := s.keys, s.fails, s.header.Clone(), s.takes
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if fails {
		return nil, errors.New("down")
	}
	body, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		return nil, err
	}
	if header == nil {
		header = http.Header{"Cache-Control": {"max-age=600"}}
	}
	header.Set("Content-Type", "application/http-message-signatures-directory+json")
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(string(body))), Request: r}, nil
}

func (s *site) set(fails bool, keys ...webbotauth.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.keys = fails, keys
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

// directoryTest runs on a false clock with a verifier whose one agent has its
// keys at the site.
func directoryTest(t *testing.T, s *site, test func(t *testing.T, check func(key webbotauth.PrivateKey) string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v, err := webbotauth.New(webbotauth.Options{
			Agents: []webbotauth.Agent{{URL: agentURL, Directory: true}}, PublicURL: publicURL, Logger: silent(),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		v.FetchBy(s)
		test(t, func(key webbotauth.PrivateKey) string {
			r := outgoing(t, http.MethodGet, "https://app.test/api/x", "")
			sign, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: agentURL, Level: ambit.AgentRequest})
			if err != nil {
				t.Error(err)
				return ""
			}
			if err := sign.Sign(r); err != nil {
				t.Error(err)
				return ""
			}
			at, body := arrive(t, r)
			return judge(t, v, at, body).Outcome
		})
	})
}

func wantOutcome(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("outcome %q, want %q", got, want)
	}
}

func wantFetches(t *testing.T, s *site, want int) {
	t.Helper()
	if got := s.count(); got != want {
		t.Errorf("%d fetches, want %d", got, want)
	}
}

func TestDirectoryIsFetchedOnceForAll(t *testing.T) {
	key := webbotauth.GenerateKey()
	s := &site{keys: []webbotauth.Key{key.Public()}, takes: time.Second}
	directoryTest(t, s, func(t *testing.T, check func(webbotauth.PrivateKey) string) {
		var good atomic.Int32
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if check(key) == "verified" {
					good.Add(1)
				}
			})
		}
		all.Wait()
		if good.Load() != 50 {
			t.Errorf("%d of 50 verified", good.Load())
		}
		wantFetches(t, s, 1)
	})
}

// Ahead of the end of its life the directory is fetched while nobody waits; past
// it, before anything is answered.
func TestDirectoryIsRefreshed(t *testing.T) {
	key, next := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	s := &site{keys: []webbotauth.Key{key.Public()}, takes: time.Second}
	directoryTest(t, s, func(t *testing.T, check func(webbotauth.PrivateKey) string) {
		wantOutcome(t, check(key), "verified")
		time.Sleep(400 * time.Second)
		wantOutcome(t, check(key), "verified")
		wantFetches(t, s, 1)

		time.Sleep(180 * time.Second) // 97 % of its ten minutes
		begun := time.Now()
		wantOutcome(t, check(key), "verified")
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("waited %s for a refresh", waited)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		wantFetches(t, s, 2)

		s.set(false, next.Public())
		time.Sleep(time.Hour)
		wantOutcome(t, check(key), "unverified/key-unknown") // taken back, and nobody had asked in between
		wantOutcome(t, check(next), "verified")
		wantFetches(t, s, 3)
	})
}

func TestDirectoryIsKeptThroughFailures(t *testing.T) {
	key := webbotauth.GenerateKey()
	s := &site{keys: []webbotauth.Key{key.Public()}}
	directoryTest(t, s, func(t *testing.T, check func(webbotauth.PrivateKey) string) {
		wantOutcome(t, check(key), "verified")
		s.set(true)
		for range 48 {
			time.Sleep(time.Hour)
			wantOutcome(t, check(key), "verified")
		}
		s.set(false, webbotauth.GenerateKey().Public())
		time.Sleep(time.Hour)
		wantOutcome(t, check(key), "unverified/key-unknown") // a fetch that succeeds replaces what was there
	})
}

// A directory that is down is asked after 30 s, 1, 2, 4 and then 5 minutes, however
// many requests name it.
func TestDirectoryThatIsDownIsNotPestered(t *testing.T) {
	key := webbotauth.GenerateKey()
	s := &site{fails: true}
	directoryTest(t, s, func(t *testing.T, check func(webbotauth.PrivateKey) string) {
		begun, before := time.Now(), 0
		var at []time.Duration
		for time.Since(begun) < 20*time.Minute {
			wantOutcome(t, check(key), "unverified/directory-unreachable")
			if n := s.count(); n != before {
				before, at = n, append(at, time.Since(begun))
			}
			time.Sleep(time.Second)
		}
		want := []time.Duration{0, 30 * time.Second, 90 * time.Second, 210 * time.Second, 450 * time.Second, 750 * time.Second, 1050 * time.Second}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("fetches at (-want +got):\n%s", diff)
		}
		s.set(false, key.Public())
		time.Sleep(5 * time.Minute)
		wantOutcome(t, check(key), "verified")
	})
}

// Signatures with keys that are not there cost the agent's site one fetch in 30 s.
func TestUnknownKeysDoNotAmplify(t *testing.T) {
	key, next := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	s := &site{keys: []webbotauth.Key{key.Public()}}
	directoryTest(t, s, func(t *testing.T, check func(webbotauth.PrivateKey) string) {
		wantOutcome(t, check(key), "verified")
		for range 100 {
			wantOutcome(t, check(webbotauth.GenerateKey()), "unverified/key-unknown")
		}
		wantFetches(t, s, 2)
		s.set(false, key.Public(), next.Public())
		wantOutcome(t, check(next), "unverified/key-unknown") // too early
		time.Sleep(30 * time.Second)
		wantOutcome(t, check(next), "verified")
		wantFetches(t, s, 3)
	})
}

func TestCloseEndsFetches(t *testing.T) {
	key := webbotauth.GenerateKey()
	synctest.Test(t, func(t *testing.T) {
		s := &site{takes: time.Hour}
		v, err := webbotauth.New(webbotauth.Options{Agents: []webbotauth.Agent{{URL: agentURL, Directory: true}}, PublicURL: publicURL, Logger: silent()})
		if err != nil {
			t.Fatal(err)
		}
		v.FetchBy(s)
		r := outgoing(t, http.MethodGet, "https://app.test/api/x", "")
		if err := signer(t, key, ambit.AgentRequest).Sign(r); err != nil {
			t.Fatal(err)
		}
		at, body := arrive(t, r)
		answered := make(chan verdict, 1)
		go func() { answered <- judge(t, v, at, body) }()
		synctest.Wait()
		begun := time.Now()
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		wantOutcome(t, (<-answered).Outcome, "unverified/directory-unreachable")
		wantOutcome(t, judge(t, v, at, body).Outcome, "unverified/directory-unreachable")
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("closing took %s", waited)
		}
		wantFetches(t, s, 1)
	})
}

// A request whose client has gone does not wait, and takes the fetch from nobody.
func TestClientThatGoesWhileADirectoryIsFetched(t *testing.T) {
	key := webbotauth.GenerateKey()
	s := &site{keys: []webbotauth.Key{key.Public()}, takes: time.Second}
	synctest.Test(t, func(t *testing.T) {
		v, err := webbotauth.New(webbotauth.Options{Agents: []webbotauth.Agent{{URL: agentURL, Directory: true}}, PublicURL: publicURL, Logger: silent()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		v.FetchBy(s)
		r := outgoing(t, http.MethodGet, "https://app.test/api/x", "")
		if err := signer(t, key, ambit.AgentRequest).Sign(r); err != nil {
			t.Fatal(err)
		}
		at, body := arrive(t, r)
		ctx, cancel := context.WithCancel(at.Context())
		cancel()
		wantOutcome(t, judge(t, v, at.WithContext(ctx), body).Outcome, "unverified/directory-unreachable")
		wantOutcome(t, judge(t, v, at, body).Outcome, "verified")
		wantFetches(t, s, 1)
	})
}

func TestLifetimeOf(t *testing.T) {
	for _, test := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, time.Hour},
		{http.Header{"Cache-Control": {"public, max-age=120"}}, 2 * time.Minute},
		{http.Header{"Cache-Control": {"public", "MAX-AGE=120"}, "Age": {"20"}}, 100 * time.Second},
		{http.Header{"Cache-Control": {"no-store"}}, 0},
		{http.Header{"Cache-Control": {"max-age=x"}}, 0},
		{http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, 0},
		{http.Header{"Date": {"Tue, 01 Dec 2026 00:00:00 GMT"}, "Expires": {"Tue, 01 Dec 2026 00:10:00 GMT"}}, 10 * time.Minute},
		{http.Header{"Expires": {"0"}}, 0},
	} {
		if got := webbotauth.LifetimeOf(test.header); got != test.want {
			t.Errorf("%v: %s, want %s", test.header, got, test.want)
		}
	}
}

// What a directory may be like, from a real server over TLS.
func TestDirectoryOverTLS(t *testing.T) {
	key, other := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	jwk := func(members string) string {
		public, err := json.Marshal(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(public), "}") + members + "}"
	}
	bare := func(members string) string { // without kid and use
		var m struct{ X string }
		public, err := json.Marshal(key.Public())
		if err == nil {
			err = json.Unmarshal(public, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q%s}`, m.X, members)
	}
	private, err := key.JWK()
	if err != nil {
		t.Fatal(err)
	}
	another, err := json.Marshal(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	const unreachable, unknown = "unverified/directory-unreachable", "unverified/key-unknown"
	for _, test := range []struct {
		name, path, kind string
		status           int
		keys             string
		want             string
	}{
		{"a directory", "", "application/http-message-signatures-directory+json", 200, jwk(""), "verified"},
		{"with parameters of the type", "", "application/http-message-signatures-directory+json; charset=utf-8", 200, jwk(""), "verified"},
		{"without kid", "", "application/http-message-signatures-directory+json", 200, bare(""), "verified"},
		{"members that are not known", "", "application/http-message-signatures-directory+json", 200, bare(`,"x5c":[],"name":"n"`), "verified"},
		{"a key set elsewhere", "/keys.json", "application/jwk-set+json", 200, bare(`,"kid":"mine"`), "verified"},
		{"a key set elsewhere, as JSON", "/keys.json", "application/json", 200, bare(""), "verified"},
		{"beside keys of other kinds", "", "application/http-message-signatures-directory+json", 200, `{"kty":"RSA","n":"AQAB","e":"AQAB"},` + bare(""), "verified"},

		{"status", "", "application/http-message-signatures-directory+json", 203, jwk(""), unreachable},
		{"redirect", "", "", 302, "", unreachable},
		{"type of a page", "", "text/html", 200, jwk(""), unreachable},
		{"type of a key set at the directory's path", "", "application/json", 200, jwk(""), unreachable},
		{"too large", "", "application/http-message-signatures-directory+json", 200, bare(`,"n":"` + strings.Repeat("x", 70<<10) + `"`), unreachable},
		{"too many keys", "", "application/http-message-signatures-directory+json", 200, strings.Repeat(bare("")+",", 20) + bare(""), unreachable},
		{"not JSON", "", "application/http-message-signatures-directory+json", 200, "x", unreachable},

		{"without the key", "", "application/http-message-signatures-directory+json", 200, string(another), unknown},
		{"another kid", "", "application/http-message-signatures-directory+json", 200, bare(`,"kid":"mine"`), unknown},
		{"for encryption", "", "application/http-message-signatures-directory+json", 200, bare(`,"use":"enc"`), unknown},
		{"for other operations", "", "application/http-message-signatures-directory+json", 200, bare(`,"key_ops":["deriveKey"]`), unknown},
		{"with its private half", "", "application/http-message-signatures-directory+json", 200, string(private), unknown},
		{"ended", "", "application/http-message-signatures-directory+json", 200, bare(`,"exp":1`), "invalid/key-expired"},
		{"not begun", "", "application/http-message-signatures-directory+json", 200, bare(`,"nbf":4000000000`), "invalid/key-expired"},
		{"ending later", "", "application/http-message-signatures-directory+json", 200, bare(`,"nbf":1,"exp":4000000000.5`), "verified"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
					_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, jwk(""))
					return
				}
				w.Header().Set("Content-Type", test.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, test.keys)
			}))
			defer server.Close()
			roots := x509.NewCertPool()
			roots.AddCert(server.Certificate())
			v, err := webbotauth.New(webbotauth.Options{
				Agents: []webbotauth.Agent{{URL: server.URL + test.path, Directory: true}}, PublicURL: publicURL, Logger: silent(), Loopback: true, Roots: roots,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = v.Close() }()
			v.Unhurried()
			s, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: server.URL + test.path})
			if err != nil {
				t.Fatal(err)
			}
			r := outgoing(t, http.MethodGet, "https://app.test/api/x", "")
			if err := s.Sign(r); err != nil {
				t.Fatal(err)
			}
			at, body := arrive(t, r)
			wantOutcome(t, judge(t, v, at, body).Outcome, test.want)
		})
	}
}

// Of a copy that somebody else serves only the keys count that have signed it.
func TestCopyOfADirectory(t *testing.T) {
	key, unsigned := webbotauth.GenerateKey(), webbotauth.GenerateKey()
	handler, err := webbotauth.DirectoryHandler(webbotauth.DirectoryOptions{
		URL: agentURL, Keys: []webbotauth.Key{key.Public(), unsigned.Public()}, Sign: []webbotauth.PrivateKey{key},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		key    webbotauth.PrivateKey
		change func(header http.Header, body string) string
		want   string
	}{
		{"as it was", key, func(_ http.Header, body string) string { return body }, "verified"},
		{"a key that has not signed", unsigned, func(_ http.Header, body string) string { return body }, "unverified/key-unknown"},
		{"another body", key, func(_ http.Header, body string) string { return body + " " }, "unverified/directory-unreachable"},
		{"another digest", key, func(h http.Header, body string) string {
			h.Set("Content-Digest", "sha-256=:nbLQqdwG5Xb+HE3iLMCvrK3dROj3Q/sf0cFuKkWMcuo=:")
			return body
		}, "unverified/directory-unreachable"},
		{"no signature", key, func(h http.Header, body string) string { h.Del("Signature"); return body }, "unverified/directory-unreachable"},
		{"another tag", key, func(h http.Header, body string) string {
			h.Set("Signature-Input", strings.ReplaceAll(h.Get("Signature-Input"), "http-message-signatures-directory", "other"))
			return body
		}, "unverified/directory-unreachable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				original := httptest.NewRecorder()
				handler.ServeHTTP(original, r)
				body := test.change(original.Header(), original.Body.String())
				for name, values := range original.Header() {
					w.Header()[name] = values
				}
				w.Header().Del("Content-Length")
				_, _ = io.WriteString(w, body)
			}))
			defer server.Close()
			roots := x509.NewCertPool()
			roots.AddCert(server.Certificate())
			v, err := webbotauth.New(webbotauth.Options{
				Agents:    []webbotauth.Agent{{URL: agentURL, Directory: true, Copy: server.URL + webbotauth.WellKnown}},
				PublicURL: publicURL, Logger: silent(), Loopback: true, Roots: roots,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = v.Close() }()
			v.Unhurried()
			r := outgoing(t, http.MethodGet, "https://app.test/api/x", "")
			if err := signer(t, test.key, ambit.AgentRequest).Sign(r); err != nil {
				t.Fatal(err)
			}
			at, body := arrive(t, r)
			wantOutcome(t, judge(t, v, at, body).Outcome, test.want)
		})
	}
}

// The signed response of the draft's appendix counts as a copy.
func TestCopyOfTheDraftsDirectory(t *testing.T) {
	var file struct {
		Request  struct{ URL string }
		Response struct {
			Headers [][2]string
			Body    string
		}
	}
	load(t, "webbotauth_directory_response.json", &file)
	v, err := webbotauth.New(webbotauth.Options{
		Agents:    []webbotauth.Agent{{URL: file.Request.URL, Directory: true, Copy: "https://copies.test/one"}},
		PublicURL: publicURL, Logger: silent(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	v.BelievePublished()
	v.At(time.Unix(1767225660, 0))
	v.FetchBy(answering(func(r *http.Request) *http.Response {
		header := http.Header{}
		for _, h := range file.Response.Headers {
			header.Add(h[0], h[1])
		}
		return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(file.Response.Body)), Request: r}
	}))
	var cases struct{ Cases []signedCase }
	load(t, "webbotauth-cases.json", &cases)
	first := cases.Cases[0]
	r := outgoing(t, first.Method, first.URL, "")
	for _, h := range first.Headers {
		r.Header.Add(h[0], h[1])
	}
	at, body := arrive(t, r)
	wantOutcome(t, judge(t, v, at, body).Outcome, "verified")
}

type answering func(*http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }
