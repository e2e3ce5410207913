package oauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// Each endpoint has its own document at its own address, and what it says of itself
// is to the byte what a client calls.
func TestMetadata(t *testing.T) {
	w := start(t, setting{})
	algorithms := `["RS256","RS384","RS512","PS256","PS384","PS512","ES256","ES384","ES512","EdDSA"]`
	for path, want := range map[string]string{
		"/mcp": `{"resource":"` + w.url + `/mcp","authorization_servers":["` + w.issuer.URL + `"],` +
			`"scopes_supported":["notes","notes:read","notes:write"],"bearer_methods_supported":["header"],` +
			`"resource_name":"Notes","dpop_signing_alg_values_supported":` + algorithms + `}`,
		"/api": `{"resource":"` + w.url + `/api","authorization_servers":["` + w.issuer.URL + `"],` +
			`"bearer_methods_supported":["header"],"dpop_signing_alg_values_supported":` + algorithms + `}`,
	} {
		got := w.send(t, w.request(t, http.MethodGet, wellKnown+path, "", ""))
		if diff := cmp.Diff(want, got.body); diff != "" || got.status != http.StatusOK {
			t.Errorf("%s: %d (-want +got):\n%s", path, got.status, diff)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600",
		} {
			if got := got.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

func TestMetadataMethods(t *testing.T) {
	w := start(t, setting{})
	get := w.send(t, w.request(t, http.MethodGet, wellKnown+"/mcp", "", ""))
	for _, test := range []struct {
		name, method string
		change       func(*http.Request)
		want         int
		body         bool
	}{
		{"HEAD", http.MethodHead, nil, http.StatusOK, false},
		{"OPTIONS, as browsers ask before", http.MethodOptions, func(r *http.Request) {
			r.Header.Set("Origin", "https://inspector.example.com")
			r.Header.Set("Access-Control-Request-Method", "GET")
		}, http.StatusNoContent, false},
		{"POST", http.MethodPost, nil, http.StatusMethodNotAllowed, false},
		{"a copy that is good still", http.MethodGet, func(r *http.Request) { r.Header.Set("If-None-Match", `"x", W/`+get.header.Get("ETag")) }, http.StatusNotModified, false},
		{"a copy that is not", http.MethodGet, func(r *http.Request) { r.Header.Set("If-None-Match", `"x"`) }, http.StatusOK, true},
		{"from another page", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", "https://inspector.example.com") }, http.StatusOK, true},
		{"with a token that is not valid", http.MethodGet, func(r *http.Request) { r.Header.Set("Authorization", "Bearer nonsense") }, http.StatusOK, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := w.request(t, test.method, wellKnown+"/mcp", "", "")
			if test.change != nil {
				test.change(r)
			}
			got := w.send(t, r)
			if got.status != test.want || (got.body != "") != test.body {
				t.Errorf("want %d, body %v; got %d %q", test.want, test.body, got.status, got.body)
			}
			if got := got.header.Get("Access-Control-Allow-Origin"); got != "*" {
				t.Errorf("Access-Control-Allow-Origin is %q, want *", got)
			}
		})
	}
	head := w.send(t, w.request(t, http.MethodHead, wellKnown+"/mcp", "", ""))
	if head.header.Get("Content-Length") != get.header.Get("Content-Length") || head.header.Get("ETag") != get.header.Get("ETag") {
		t.Error("HEAD and GET differ in their headers")
	}
}

// A document stands where it belongs, and nowhere else.
func TestMetadataPlaces(t *testing.T) {
	paths := start(t, setting{})
	root := start(t, setting{oauth: func(o *oauth.Options) {
		address := strings.TrimSuffix(o.Resources[0].URL, "/mcp")
		o.Resources = []oauth.Resource{{URL: address, Audiences: []string{address}}}
	}})
	for _, test := range []struct {
		name string
		w    *world
		path string
		want int
	}{
		{"no resource is the whole host", paths, "", http.StatusNotFound},
		{"no resource at this path", paths, "/other", http.StatusNotFound},
		{"below a resource", paths, "/api/whoami", http.StatusNotFound},
		{"the whole host", root, "", http.StatusOK},
		{"a path of it", root, "/mcp", http.StatusNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.w.send(t, test.w.request(t, http.MethodGet, wellKnown+test.path, "", "")); got.status != test.want {
				t.Errorf("want %d, got %d", test.want, got.status)
			}
		})
	}
	got := root.send(t, root.request(t, http.MethodGet, wellKnown, "", ""))
	if !strings.HasPrefix(got.body, `{"resource":"`+root.url+`",`) {
		t.Errorf("want the host without slash, got %s", got.body)
	}
}

// Another spelling of an endpoint leads to the one that the metadata names, before a
// token is read.
func TestOtherSpellings(t *testing.T) {
	w := start(t, setting{
		oauth: func(o *oauth.Options) { o.Aliases = []string{"www.notes.example"} },
		trust: func(o *trust.Options) {
			o.Hosts = []string{"localhost", "127.0.0.1", "www.notes.example", "inner.example"}
		},
	})
	port := host(t, w.url)
	for _, test := range []struct {
		name, path, host string
		want             int
		location         string
	}{
		{"as it is", "/mcp", "", http.StatusUnauthorized, ""},
		{"a slash at the end", "/mcp/", "", http.StatusPermanentRedirect, w.url + "/mcp"},
		{"another name of this machine", "/mcp", "localhost:" + port, http.StatusPermanentRedirect, w.url + "/mcp"},
		{"a listed alias", "/api/whoami", "www.notes.example", http.StatusPermanentRedirect, w.url + "/api/whoami"},
		{"an alias in other letters", "/mcp", "WWW.Notes.example", http.StatusPermanentRedirect, w.url + "/mcp"},
		{"both", "/mcp/", "localhost:" + port, http.StatusPermanentRedirect, w.url + "/mcp"},
		{"the name that a proxy uses", "/mcp", "inner.example", http.StatusUnauthorized, ""},
		{"a host that is not served", "/mcp/", "evil.example", http.StatusForbidden, ""},
		{"no resource", "/other/", "localhost:" + port, http.StatusNotFound, ""},
		{"the document", wellKnown + "/mcp/", "", http.StatusPermanentRedirect, w.url + wellKnown + "/mcp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := w.request(t, http.MethodPost, test.path, "", "")
			if test.host != "" {
				r.Host = test.host
			}
			got := w.send(t, r)
			if got.status != test.want || got.header.Get("Location") != test.location {
				t.Errorf("want %d %q, got %d %q", test.want, test.location, got.status, got.header.Get("Location"))
			}
		})
	}
	// A token, whatever it is worth, changes nothing, and neither does a query.
	r := w.request(t, http.MethodPost, "/mcp/?a=b", "", "nonsense")
	if got := w.send(t, r); got.status != http.StatusPermanentRedirect || got.header.Get("Location") != w.url+"/mcp?a=b" {
		t.Errorf("with a token: %d %q", got.status, got.header.Get("Location"))
	}
}
