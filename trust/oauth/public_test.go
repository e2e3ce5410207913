package oauth_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit/trust/oauth"
)

// Failures that others had in public, by where they were reported. Each of them is
// the whole reason why some host could not connect, or somebody else could.

// The SDK's own client steps up where the challenge says error="insufficient_scope",
// which its server never said.
func TestPublic_GoSDK1134_ChallengeWithoutError(t *testing.T) {
	w := start(t, setting{})
	for name, test := range map[string]struct {
		token, want string
	}{
		"a token that is none":   {"e30.e30.e30", `error="invalid_token"`},
		"too few scopes":         {w.token(t, "/mcp", "notes"), `error="insufficient_scope"`},
		"none for the endpoint":  {w.token(t, "/mcp", ""), `error="insufficient_scope"`},
		"no token says no error": {"", `scope="notes", resource_metadata=`},
	} {
		got := w.tool(t, "notes_write", test.token).challenge
		if !strings.Contains(got, test.want) || test.token == "" && strings.Contains(got, "error") {
			t.Errorf("%s: want %s in %s", name, test.want, got)
		}
	}
}

// A client that replaces its scopes by those of the last challenge, rather than adding
// them, goes in circles unless each challenge has all that the call needs.
func TestPublic_ModelContextProtocol2349_ScopesReplaced(t *testing.T) {
	w := start(t, setting{})
	scopes, asked := "", 0
	for ; asked < 5; asked++ {
		got := w.tool(t, "notes_write", w.token(t, "/mcp", scopes))
		if got.status == http.StatusOK {
			break
		}
		_, after, _ := strings.Cut(got.challenge, `scope="`)
		scopes, _, _ = strings.Cut(after, `"`)
	}
	if asked > 2 {
		t.Errorf("a client that replaces scopes was challenged %d times, at last with %q", asked, scopes)
	}
}

// The client gave up after one challenge, because the scopes came one at a time.
func TestPublic_ClaudeCode28258_ScopesOneAtATime(t *testing.T) {
	w := start(t, setting{})
	got := w.tool(t, "notes_write", w.token(t, "/mcp", "notes"))
	if want := `scope="notes notes:read notes:write"`; !strings.Contains(got.challenge, want) {
		t.Errorf("want all in one challenge, %s, got %s", want, got.challenge)
	}
}

// A client added a slash to the resource and then lost the path. Both spellings lead
// to the same identifier, which has no slash anywhere.
func TestPublic_ClaudeCode52871_SlashAtTheEnd(t *testing.T) {
	w := start(t, setting{})
	for _, path := range []string{"/mcp", "/mcp/"} {
		r := w.request(t, http.MethodPost, path, "", "")
		got := w.send(t, r)
		if got.status == http.StatusPermanentRedirect {
			got = w.send(t, w.request(t, http.MethodPost, strings.TrimPrefix(got.header.Get("Location"), w.url), "", ""))
		}
		document := w.send(t, w.request(t, http.MethodGet, strings.TrimPrefix(metadataOf(t, got), w.url), "", ""))
		if !strings.HasPrefix(document.body, `{"resource":"`+w.url+`/mcp",`) {
			t.Errorf("%s: %s", path, document.body)
		}
	}
}

// metadataOf returns the URL that a challenge names.
func metadataOf(t *testing.T, a answer) string {
	t.Helper()
	_, after, _ := strings.Cut(a.challenge, `resource_metadata="`)
	address, _, ok := strings.Cut(after, `"`)
	if !ok {
		t.Fatalf("no resource_metadata in %q", a.challenge)
	}
	return address
}

// Metadata stood at the root alone, and named the root: clients that called a path went
// in circles.
func TestPublic_NutritionMCP51_MetadataAtRootOnly(t *testing.T) {
	w := start(t, setting{})
	if got := w.send(t, w.request(t, http.MethodGet, wellKnown, "", "")); got.status != http.StatusNotFound {
		t.Errorf("at the root: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/mcp", "/api"} {
		got := w.send(t, w.request(t, http.MethodGet, wellKnown+path, "", ""))
		if !strings.HasPrefix(got.body, `{"resource":"`+w.url+path+`",`) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

// The challenge had a relative URL.
func TestPublic_Openhab21264_RelativeMetadataURL(t *testing.T) {
	w := start(t, setting{})
	for _, token := range []string{"", "e30.e30.e30", w.token(t, "/mcp", "")} {
		u, err := url.Parse(metadataOf(t, w.tool(t, "notes_write", token)))
		if err != nil || !u.IsAbs() || u.Host == "" {
			t.Errorf("with %q: %v %v", token, u, err)
		}
	}
}

// Two endpoints named one resource, and strict clients refused the second.
func TestPublic_ExaMCPServer387_OneResourceForTwoEndpoints(t *testing.T) {
	w := start(t, setting{})
	forMCP, forAPI := w.token(t, "/mcp", "notes"), w.token(t, "/api", "")
	if a, b := metadataOf(t, w.tool(t, "whoami", "")), metadataOf(t, w.call(t, "whoami", "")); a == b {
		t.Errorf("both name %s", a)
	}
	if got := w.tool(t, "whoami", forAPI); got.status != http.StatusUnauthorized {
		t.Errorf("the API's token at MCP: %d", got.status)
	}
	if got := w.call(t, "whoami", forMCP); got.status != http.StatusUnauthorized {
		t.Errorf("MCP's token at the API: %d", got.status)
	}
}

// Only issuer and expiry were checked: a token for another deployment got in, and ended
// as an error of the server.
func TestPublic_TableauMCP369_TokenOfAnotherDeployment(t *testing.T) {
	w := start(t, setting{})
	got := w.tool(t, "whoami", w.token(t, "/mcp", "notes", claim("aud", "https://eu.example.com/mcp")))
	if got.status != http.StatusUnauthorized || !strings.Contains(got.challenge, `error="invalid_token"`) {
		t.Errorf("want 401 invalid_token, got %d %s", got.status, got.challenge)
	}
}

// An empty audience was taken in one mode, and tokens with the right one were refused
// in the other.
func TestPublic_Toolhive4794_EmptyAudience(t *testing.T) {
	for name, change := range map[string]func(*oauth.Options){"signed": nil, "introspected": introspecting} {
		w := start(t, setting{oauth: change})
		for _, empty := range []any{nil, "", []string{}, []string{""}} {
			if got := w.call(t, "whoami", w.token(t, "/api", "", claim("aud", empty))); got.status != http.StatusUnauthorized {
				t.Errorf("%s: audience %v: %d %s", name, empty, got.status, got.body)
			}
		}
		if got := w.call(t, "whoami", w.token(t, "/api", "", claim("aud", []string{"other", w.url + "/api"}))); got.status != http.StatusOK {
			t.Errorf("%s: one of two audiences: %d %s", name, got.status, got.body)
		}
	}
}

// Unsigned tokens with made-up key ids used up what was allowed for fetching keys, and
// a key that had really changed was not found.
func TestPublic_Engram1641_MadeUpKeyIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlone(t, nil)
		defer a.Close()
		a.want(t, "ok", a.token(t))
		forge := func() string {
			head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"` + time.Now().String() + `"}`))
			claims := a.wire.issuer.Claims("mallory", resourceURL, "")
			text, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SigningString()
			if err != nil {
				t.Fatal(err)
			}
			return head + "." + strings.Split(text, ".")[1] + "." + strings.Repeat("A", 86)
		}
		second := func() {
			for range 10 {
				if got := a.send(t.Context(), forge()); got != "invalid" && got != "unavailable" {
					t.Fatalf("a made-up token: %s", got)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		before := a.wire.count("/keys")
		for range 60 {
			second()
		}
		if got := a.wire.count("/keys") - before; got > 4 {
			t.Errorf("600 made-up ids in a minute: %d fetches", got)
		}
		if err := a.wire.issuer.Rotate(); err != nil {
			t.Fatal(err)
		}
		token := a.token(t, longLived)
		rotated := time.Now()
		for got := ""; got != "ok"; second() {
			if got = a.send(t.Context(), token); got == "invalid" || time.Since(rotated) > 31*time.Second {
				t.Fatalf("a token of the new key, %v after it: %s", time.Since(rotated), got)
			}
		}
	})
}
