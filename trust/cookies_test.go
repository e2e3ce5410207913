package trust_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// cookieAgents notes the cookies of the requests that it is shown.
type cookieAgents struct{ verified, asked *[]string }

func (a cookieAgents) Verify(r *http.Request) *trust.SignedRequest {
	*a.verified = append(*a.verified, r.Header["Cookie"]...)
	return nil
}

func (a cookieAgents) AcceptSignature(r *http.Request, _ ambit.AgentLevel) string {
	*a.asked = append(*a.asked, r.Header["Cookie"]...)
	return "sig1=()"
}

// Of a request without its cookies, the verifier of agents alone sees them, since
// they are what was signed.
func TestWithoutCookies(t *testing.T) {
	t.Parallel()
	var verified, asked []string
	var seen [][]string
	look := func(r *http.Request) { seen = append(seen, r.Header["Cookie"]) }
	guard := newGuard(t, trust.Options{
		Authenticators: []trust.Authenticator{fake{name: "a", authenticate: func(r *http.Request) (*trust.Identity, error) {
			look(r)
			return identity("alice"), nil
		}}},
		Agents: cookieAgents{&verified, &asked},
	})
	whole := request(header("Cookie", "session=1"), header("Authorization", "x"))
	plain := trust.WithoutCookies(whole)
	who, refused := guard.Admit(plain)
	if refused != nil {
		t.Fatal(refused)
	}
	look(plain.WithContext(guard.Context(plain, who)))
	guard.Challenge(http.Header{}, plain, who, &ambit.Error{Code: ambit.CodeAgentRequired})

	want := []string{"session=1"}
	if diff := cmp.Diff([][]string{want, want, want}, [][]string{verified, asked, whole.Header["Cookie"]}); diff != "" {
		t.Errorf("what the verifier saw before and after, and what the request still has (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{nil, nil}, seen); diff != "" {
		t.Errorf("what the authenticator and the call saw (-want +got):\n%s", diff)
	}
	if got := plain.Header.Get("Authorization"); !strings.Contains(got, "x") {
		t.Errorf("other headers: want them, got Authorization %q", got)
	}
	if again := trust.WithoutCookies(plain); again != plain {
		t.Error("a request without cookies was copied")
	}
}
