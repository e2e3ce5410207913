package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// metadataAge is how long clients may keep metadata. It changes with the
// application's configuration alone.
const metadataAge = "public, max-age=3600"

// metadata is a resource's metadata (RFC 9728, section 2).
type metadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name,omitempty"`
	Documentation        string   `json:"resource_documentation,omitempty"`
	MTLSBound            bool     `json:"tls_client_certificate_bound_access_tokens,omitempty"`
	DPoPAlgorithms       []string `json:"dpop_signing_alg_values_supported,omitempty"`
	DPoPBound            bool     `json:"dpop_bound_access_tokens_required,omitempty"`
}

// document is the published metadata of one resource. Everybody may read it, from
// any page: it is what a client needs before it has a token.
type document struct{ body, tag string }

func newDocument(r *resource, issuers []Issuer) *document {
	m := metadata{
		Resource:        r.URL,
		ScopesSupported: slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(r.Scopes), r.MoreScopes...)))),
		BearerMethods:   []string{"header"},
		Name:            r.Name,
		Documentation:   r.Documentation,
		MTLSBound:       r.MTLS == BindingRequired,
		DPoPBound:       r.DPoP == BindingRequired,
	}
	if r.DPoP != BindingRefused {
		m.DPoPAlgorithms = algorithms
	}
	for _, issuer := range issuers {
		m.AuthorizationServers = append(m.AuthorizationServers, issuer.URL)
	}
	body, _ := json.Marshal(m) // texts and flags always have a JSON form
	sum := sha256.Sum256(body)
	return &document{string(body), `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// ServeHTTP answers GET, HEAD and OPTIONS.
func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	const allow = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Allow", allow)
		header.Set("Access-Control-Allow-Methods", allow)
		header.Set("Access-Control-Allow-Headers", "*")
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", allow)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header.Set("Cache-Control", metadataAge)
	header.Set("ETag", d.tag)
	if matches(r.Header.Values("If-None-Match"), d.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(d.body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write([]byte(d.body)) // a client that has gone needs no answer
	}
}

// matches compares entity tags weakly (RFC 9110, section 13.1.2).
func matches(lists []string, tag string) bool {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
