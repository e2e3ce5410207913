package trust_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// challenging is an authenticator that words its challenge by the refusal.
type challenging struct{ fake }

func (challenging) ChallengeFor(header http.Header, _ *http.Request, refused *ambit.Error) {
	header.Add("WWW-Authenticate", `Bearer error="`+string(refused.Code)+`"`)
	header.Set("DPoP-Nonce", "n")
}

// agents is a verifier of agents that says what it is told to.
type agents struct {
	signed *trust.SignedRequest
	accept string
}

func (a agents) Verify(*http.Request) *trust.SignedRequest { return a.signed }

func (a agents) AcceptSignature(_ *http.Request, level ambit.AgentLevel) string {
	return a.accept + level.String()
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	refusal := func(c ambit.Code) *ambit.Error { return &ambit.Error{Code: c, Scopes: []string{"a", "b"}} }
	known, anonymous := identity("alice"), &trust.Identity{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}}
	bearer, own := fake{name: "Bearer"}, challenging{fake{name: "own"}}
	tests := []struct {
		name           string
		authenticators []trust.Authenticator
		agents         trust.AgentVerifier
		identity       *trust.Identity
		refused        *ambit.Error
		status         int
		want           http.Header
	}{
		{
			name: "a refusal that no credential mends", authenticators: []trust.Authenticator{own},
			identity: known, refused: refusal(ambit.CodeForbidden), status: 403, want: http.Header{},
		},
		{
			name: "a fault of a known caller's input", authenticators: []trust.Authenticator{own},
			identity: known, refused: refusal(ambit.CodeInvalidInput), status: 400, want: http.Header{},
		},
		{
			name: "a fault of a credential's form", authenticators: []trust.Authenticator{own},
			refused: refusal(ambit.CodeInvalidInput), status: 400,
			want: http.Header{"Www-Authenticate": {`Bearer error="invalid_input"`}, "Dpop-Nonce": {"n"}, "Access-Control-Expose-Headers": {"WWW-Authenticate"}},
		},
		{
			name: "scopes, in an authenticator's words", authenticators: []trust.Authenticator{own},
			identity: known, refused: refusal(ambit.CodeInsufficientScope), status: 403,
			want: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope"`}, "Dpop-Nonce": {"n"}, "Access-Control-Expose-Headers": {"WWW-Authenticate"}},
		},
		{
			name: "scopes, in nobody's words", authenticators: []trust.Authenticator{bearer},
			identity: known, refused: refusal(ambit.CodeInsufficientScope), status: 403,
			want: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="a b"`}, "Access-Control-Expose-Headers": {"WWW-Authenticate"}},
		},
		{
			name: "one challenge for each scheme, the one that says more", authenticators: []trust.Authenticator{bearer, own, fake{name: `Bearer realm="z"`}},
			identity: anonymous, refused: refusal(ambit.CodeUnauthenticated), status: 401,
			want: http.Header{"Www-Authenticate": {`Bearer error="unauthenticated"`}, "Dpop-Nonce": {"n"}, "Access-Control-Expose-Headers": {"WWW-Authenticate"}},
		},
		{
			name: "an agent, of a known caller", authenticators: []trust.Authenticator{bearer}, agents: agents{accept: "sig1="},
			identity: known, refused: refusal(ambit.CodeAgentRequired), status: 403,
			want: http.Header{"Accept-Signature": {"sig1=none"}, "Access-Control-Expose-Headers": {"Accept-Signature"}},
		},
		{
			name: "an agent, of a stranger who could show a token", authenticators: []trust.Authenticator{bearer}, agents: agents{accept: "sig1="},
			identity: anonymous, refused: refusal(ambit.CodeAgentRequired), status: 401,
			want: http.Header{"Www-Authenticate": {"Bearer"}, "Accept-Signature": {"sig1=none"}, "Access-Control-Expose-Headers": {"WWW-Authenticate, Accept-Signature"}},
		},
		{
			name: "an agent, where nobody could show anything", agents: agents{accept: "sig1="},
			identity: anonymous, refused: refusal(ambit.CodeAgentRequired), status: 403,
			want: http.Header{"Accept-Signature": {"sig1=none"}, "Access-Control-Expose-Headers": {"Accept-Signature"}},
		},
		{
			name:     "an agent, where none is verified",
			identity: anonymous, refused: refusal(ambit.CodeAgentRequired), status: 403, want: http.Header{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard := newGuard(t, trust.Options{Authenticators: tt.authenticators, Agents: tt.agents})
			got := http.Header{}
			status := guard.Challenge(got, request(), tt.identity, tt.refused)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			if status != tt.status {
				t.Errorf("status: want %d, got %d", tt.status, status)
			}
		})
	}
}

// What an application's error names as scopes and what is none is not put into a
// challenge, by no authenticator either.
func TestChallengeHoldsScopesAlone(t *testing.T) {
	t.Parallel()
	for name, authenticators := range map[string][]trust.Authenticator{"the guard's own": nil, "an authenticator's": {scoping{fake{name: "scoping"}}}} {
		refused := &ambit.Error{Code: ambit.CodeInsufficientScope, Scopes: []string{`x", error="other`, "notes:read", "", "a b", "a\r\nb", `a\b`, "é", "mail"}}
		got := http.Header{}
		newGuard(t, trust.Options{Authenticators: authenticators}).Challenge(got, request(), identity("alice"), refused)
		want := http.Header{
			"Www-Authenticate":              {`Bearer error="insufficient_scope", scope="notes:read mail"`},
			"Access-Control-Expose-Headers": {"WWW-Authenticate"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(refused.Scopes) != 8 {
			t.Errorf("%s: the error was changed: %q", name, refused.Scopes)
		}
	}
}

// scoping writes the challenge of a missing scope itself.
type scoping struct{ fake }

func (scoping) ChallengeFor(header http.Header, _ *http.Request, refused *ambit.Error) {
	header.Add("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Join(refused.Scopes, " ")+`"`)
}

// An authenticator that cannot tell, or that tells what is wrong with a request,
// answers itself; whatever else it says stays on the server.
func TestAuthenticatorAnswers(t *testing.T) {
	t.Parallel()
	for code, want := range map[ambit.Code]ambit.Code{
		ambit.CodeUnavailable: ambit.CodeUnavailable, ambit.CodeInvalidInput: ambit.CodeInvalidInput, ambit.CodeInsufficientScope: ambit.CodeInsufficientScope,
		ambit.CodeForbidden: ambit.CodeUnauthenticated, ambit.CodeNotFound: ambit.CodeUnauthenticated, ambit.CodeInternal: ambit.CodeUnauthenticated,
	} {
		a := fake{name: "a", authenticate: func(*http.Request) (*trust.Identity, error) { return nil, ambit.Errorf(code, "said") }}
		guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{a}})
		_, refused := guard.Admit(request())
		if refused == nil || refused.Code != want || (refused.Message == "said") != (code == want) {
			t.Errorf("%s: want %s, got %v", code, want, refused)
		}
	}
}
