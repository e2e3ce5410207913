package encode_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/trust/approval"
)

// TestNumbers holds the numbers that stand in databases.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		list []fmt.Stringer
		want []string
	}{
		{"states", numbers[ambit.ProposalState](9), []string{"pending", "approved", "denied", "revoked", "expired", "executing", "succeeded", "failed", "unknown"}},
		{"kinds of proposal", numbers[ambit.ProposalKind](2), []string{"approval", "consent"}},
		{"levels", numbers[ambit.Approval](4), []string{"unset", "confirm", "human", "four-eyes"}},
		{"verdicts", numbers[approval.Verdict](6), []string{"invalid", "approve", "deny", "revoke", "settle-succeeded", "settle-failed"}},
		{"effects", numbers[ambit.Effect](6), []string{"invalid", "read", "write", "execute", "external", "destructive"}},
		{"kinds of principal", numbers[ambit.Kind](4), []string{"user", "service", "agent", "anonymous"}},
		{"levels of agents", numbers[ambit.AgentLevel](4), []string{"none", "identity", "request", "once"}},
	} {
		var got []string
		for _, each := range test.list {
			got = append(got, each.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s have other numbers than databases hold (-want +got):\n%s", test.name, diff)
		}
	}
}

func numbers[V interface {
	~uint8
	fmt.Stringer
}](n int) (list []fmt.Stringer) {
	for i := range n {
		list = append(list, V(i))
	}
	return list
}

// TestRoundTrip holds that what is written is read again, whatever it says.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		list := rapid.OneOf(rapid.Just[[]string](nil), rapid.SliceOfN(text, 0, 3))
		digest := rapid.Custom(func(t *rapid.T) ambit.Digest { return sha256.Sum256([]byte(text.Draw(t, "digest of"))) })
		person := rapid.Custom(func(t *rapid.T) *ambit.Principal {
			return &ambit.Principal{
				Authority: text.Draw(t, "authority"), Subject: text.Draw(t, "subject"), Kind: ambit.Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
				Tenant: text.Draw(t, "tenant"), Client: text.Draw(t, "client"), Permissions: list.Draw(t, "permissions"), Roles: list.Draw(t, "roles"),
				Scopes: list.Draw(t, "scopes"), Unscoped: rapid.Bool().Draw(t, "unscoped"), Behind: list.Draw(t, "behind"),
				Expires: encode.ParseTime(rapid.Int64Range(0, 1<<50).Draw(t, "expires")),
			}
		})
		p := ambit.Proposal{
			Binding: ambit.Binding{
				Tenant: text.Draw(t, "tenant"), Principal: text.Draw(t, "principal"), Client: text.Draw(t, "client"), Agent: text.Draw(t, "agent"),
				Capability: text.Draw(t, "capability"), Contract: digest.Draw(t, "contract"), Input: digest.Draw(t, "input"),
			},
			Level: ambit.Approval(rapid.IntRange(0, 3).Draw(t, "level")), Quorum: rapid.Int().Draw(t, "quorum"), Requester: person.Draw(t, "requester"),
			Via:   ambit.Surface(rapid.Uint16().Draw(t, "via")),
			Agent: ambit.AgentIdentity{URL: text.Draw(t, "url"), Key: text.Draw(t, "agent's key"), Level: ambit.AgentOnce, OnceUnavailable: rapid.Bool().Draw(t, "unavailable")},
			Run:   ambit.ID(rapid.Uint64().Draw(t, "run")), Call: ambit.ID(rapid.Uint64().Draw(t, "call")), Request: text.Draw(t, "request"),
			Title: text.Draw(t, "title"), Effect: ambit.Effect(rapid.IntRange(1, 5).Draw(t, "effect")), Reason: text.Draw(t, "reason"),
			Key: digest.Draw(t, "key"), Preview: digest.Draw(t, "preview"), Version: text.Draw(t, "version"), DecidePermission: text.Draw(t, "permission"),
			DecideWithin: time.Duration(rapid.Int64().Draw(t, "decide")), ExecuteWithin: time.Duration(rapid.Int64().Draw(t, "execute")),
		}
		stored, err := encode.Proposal(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encode.ParseProposal(stored)
		if diff := cmp.Diff(p, got); err != nil || diff != "" {
			t.Fatalf("proposal: error %v (-want +got):\n%s", err, diff)
		}
		decisions := []approval.Decision{{
			Decider: text.Draw(t, "decider"), Behind: list.Draw(t, "behind"), Name: text.Draw(t, "name"), Principal: person.Draw(t, "person"),
			Verdict: approval.Verdict(rapid.IntRange(1, 5).Draw(t, "verdict")), Reason: text.Draw(t, "reason"), Preview: digest.Draw(t, "preview"),
			At: encode.ParseTime(rapid.Int64Range(1, 1<<50).Draw(t, "at")),
		}, {}}
		stored, err = encode.Decisions(decisions)
		if err != nil {
			t.Fatal(err)
		}
		read, err := encode.ParseDecisions(stored)
		if diff := cmp.Diff(decisions, read); err != nil || diff != "" {
			t.Fatalf("decisions: error %v (-want +got):\n%s", err, diff)
		}
	})
}

// Somebody always asks: what is read without is no proposal, and nobody who shows it
// has to think of that.
func TestProposalOfNobody(t *testing.T) {
	t.Parallel()
	stored, err := encode.Proposal(ambit.Proposal{Title: "Purge notes"})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := encode.ParseProposal(stored); err == nil {
		t.Errorf("want an error, got %+v", p)
	}
}

// A credential that ends after the last year of RFC 3339 ends with that.
func TestExpiresLate(t *testing.T) {
	t.Parallel()
	stored, err := encode.Proposal(ambit.Proposal{Requester: &ambit.Principal{Authority: "issuer", Subject: "ann", Expires: time.Unix(999_999_999_999, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := encode.ParseProposal(stored)
	if want := time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC); err != nil || !p.Requester.Expires.Equal(want) {
		t.Errorf("want %s, got %+v, %v", want, p.Requester, err)
	}
}
