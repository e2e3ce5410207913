package trust

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// origins is the same-origin rule: which web pages may send requests.
type origins struct {
	listed map[string]bool
	public *url.URL // nil: not known
}

func newOrigins(o Options, public *url.URL) (origins, error) {
	rule := origins{listed: make(map[string]bool, len(o.Origins)+1), public: public}
	for _, entry := range o.Origins {
		u, err := url.Parse(entry)
		if err != nil || originOf(u) != strings.ToLower(entry) {
			return origins{}, fmt.Errorf("trust: Options.Origins holds %q: give scheme and host, as in \"https://app.example.com\"", entry)
		}
		rule.listed[originOf(u)] = true
	}
	if public != nil {
		rule.listed[originOf(public)] = true
	}
	return rule, nil
}

// originOf returns the serialized origin of a URL (RFC 6454, section 6.2), or
// "" for a URL that browsers load no pages from.
func originOf(u *url.URL) string {
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// allow reports whether a request comes from a page that may send it, or from
// no page. Browsers send Origin with everything that can change something, and
// Sec-Fetch-Site (Fetch Metadata, section 2.3) with everything.
func (o origins) allow(r *http.Request) bool {
	origin, site := r.Header["Origin"], r.Header["Sec-Fetch-Site"]
	if len(origin) > 1 || len(site) > 1 {
		return false
	}
	if len(origin) == 1 {
		if o.listed[origin[0]] {
			return true
		}
		if !o.own(r, origin[0]) {
			return false
		}
	}
	return len(site) == 0 || site[0] == "same-origin" || site[0] == "none"
}

// own reports whether an origin is that of the host the request was sent to. A
// plain http page is none of the application's where the application is known
// to be served over https: anyone on the way could have written it.
func (o origins) own(r *http.Request, origin string) bool {
	scheme, host, ok := strings.Cut(origin, "://")
	if !ok || !strings.EqualFold(host, r.Host) {
		return false
	}
	secure := r.TLS != nil || o.public != nil && o.public.Scheme == "https" && strings.EqualFold(o.public.Host, r.Host)
	return scheme == "https" || scheme == "http" && !secure
}

// deliberate reports whether a request has a credential that no browser sends by
// itself: an Authorization header of a scheme for which browsers keep none. What
// a person has typed in once for Basic or Digest, or what the system's own login
// gives for Negotiate and NTLM, goes along with every later request, whichever
// page makes it (RFC 7617, section 2.2; RFC 4559, section 6).
func deliberate(r *http.Request) bool {
	credentials := r.Header["Authorization"]
	for _, credential := range credentials {
		scheme, _, _ := strings.Cut(credential, " ")
		switch strings.ToLower(scheme) {
		case "basic", "digest", "negotiate", "ntlm":
			return false
		}
	}
	return len(credentials) > 0
}
