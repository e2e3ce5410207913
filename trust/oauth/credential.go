package oauth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ambit-dev/ambit"
)

// maxToken is how many bytes of a token are looked at.
const maxToken = 16 << 10

// apiKey is how API keys of this framework begin. None is an access token, and
// none is shown to an issuer.
const apiKey = "ambit_"

// credential is the token of a request.
type credential struct {
	token string
	dpop  bool // sent by the DPoP scheme
}

// credentialOf reads the token from the Authorization header (RFC 6750, section
// 2.1; RFC 9449, section 7.1) and from nowhere else: one in the query ends up in
// logs. The zero credential is none.
func credentialOf(r *http.Request) (credential, *ambit.Error) {
	if strings.Contains(r.URL.RawQuery, "access") || strings.Contains(r.URL.RawQuery, "%") {
		// What cannot be parsed holds what could.
		query, _ := url.ParseQuery(r.URL.RawQuery)
		if _, ok := query["access_token"]; ok {
			return credential{}, broken("An access token in the query is not read.")
		}
	}
	header := r.Header["Authorization"]
	if len(header) == 0 {
		return credential{}, nil
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	c := credential{token: strings.Trim(token, " ")}
	switch {
	case strings.EqualFold(scheme, "Bearer"):
	case strings.EqualFold(scheme, "DPoP"):
		c.dpop = true
	default:
		return credential{}, nil
	}
	switch {
	case len(header) > 1 || strings.Contains(c.token, ","):
		return credential{}, broken("The request has more than one access token.")
	case !wellFormed(c.token):
		return credential{}, broken("The Authorization header holds no access token.")
	}
	return c, nil
}

// wellFormed checks the characters of a token (b64token of RFC 6750, section 2.1).
func wellFormed(token string) bool {
	body := strings.TrimRight(token, "=")
	for i := range len(body) {
		if c := body[i]; c >= 128 || tokenChars[c>>6]>>(c&63)&1 == 0 {
			return false
		}
	}
	return body != "" && len(token) <= maxToken
}

// tokenChars has a bit for each character that a token may have.
var tokenChars = [2]uint64{
	1<<'-' | 1<<'.' | 1<<'+' | 1<<'/' | (1<<10-1)<<'0',
	1<<('_'-64) | 1<<('~'-64) | (1<<26-1)<<('A'-64) | (1<<26-1)<<('a'-64),
}

// compact reports whether a token has the form of a signed JWT (RFC 7515,
// section 7.1): its header is a JSON object.
func compact(token string) bool {
	return strings.HasPrefix(token, "ey") && strings.Count(token, ".") == 2
}

// broken is the answer to a request that breaks the rules for sending a token.
func broken(message string) *ambit.Error {
	return ambit.Errorf(ambit.CodeInvalidInput, "%s", message).
		WithHint("Send one access token, in one Authorization header.")
}
