package trust_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

func TestAgentOfRequest(t *testing.T) {
	t.Parallel()
	bot := ambit.AgentIdentity{URL: "https://bot.example/", Key: "k", Level: ambit.AgentOnce}
	lower := bot
	lower.Level = ambit.AgentRequest
	settle := func(to ambit.AgentIdentity) func(context.Context, []byte) ambit.AgentIdentity {
		return func(_ context.Context, body []byte) ambit.AgentIdentity {
			if string(body) != "{}" {
				return ambit.AgentIdentity{}
			}
			return to
		}
	}
	tests := []struct {
		name          string
		signed        *trust.SignedRequest
		body          string
		before, after ambit.AgentIdentity
	}{
		{"not signed", nil, "{}", ambit.AgentIdentity{}, ambit.AgentIdentity{}},
		{"nobody that is known", &trust.SignedRequest{Outcome: "unknown-agent"}, "{}", ambit.AgentIdentity{}, ambit.AgentIdentity{}},
		{"nothing to settle", &trust.SignedRequest{Agent: bot}, "{}", bot, bot},
		{"settled", &trust.SignedRequest{Agent: bot, Settle: settle(bot)}, "{}", bot, bot},
		{"settled for less", &trust.SignedRequest{Agent: bot, Settle: settle(lower)}, "{}", bot, lower},
		{"another body", &trust.SignedRequest{Agent: bot, Settle: settle(bot)}, "[]", bot, ambit.AgentIdentity{}},
		{"a panic", &trust.SignedRequest{Agent: bot, Settle: func(context.Context, []byte) ambit.AgentIdentity { panic("boom") }}, "{}", bot, ambit.AgentIdentity{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shared := identity("alice")
			guard := newGuard(t, trust.Options{
				Authenticators: []trust.Authenticator{fake{name: "a", authenticate: func(*http.Request) (*trust.Identity, error) { return shared, nil }}},
				Agents:         agents{signed: tt.signed},
			})
			r := request()
			got, refused := guard.Admit(r)
			if refused != nil {
				t.Fatal(refused)
			}
			if diff := cmp.Diff(tt.before, got.Agent()); diff != "" {
				t.Errorf("before the body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.after, guard.Settle(r, got, []byte(tt.body))); diff != "" {
				t.Errorf("after the body (-want +got):\n%s", diff)
			}
			if shared.Signed != nil {
				t.Error("the identity that an authenticator gives out many times was changed")
			}
		})
	}
}

type adding struct{ fake }

type addedKey struct{}

func (a adding) AddContext(ctx context.Context, _ *http.Request, i *trust.Identity) context.Context {
	if a.name == "panics" {
		panic("boom")
	}
	if a.name == "nil" {
		return nil
	}
	said, _ := ctx.Value(addedKey{}).(string)
	return context.WithValue(ctx, addedKey{}, said+a.name+" of "+i.Principal.Subject+". ")
}

func TestContextOfRequest(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{
		adding{fake{name: "one"}}, adding{fake{name: "panics"}}, adding{fake{name: "nil"}}, fake{name: "plain"}, adding{fake{name: "two"}},
	}})
	said := func(i *trust.Identity) string {
		s, _ := guard.Context(request(), i).Value(addedKey{}).(string)
		return s
	}
	if diff := cmp.Diff("one of alice. two of alice. ", said(identity("alice"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := said(nil); got != "" {
		t.Errorf("nobody: want nothing added, got %q", got)
	}
}

func TestPeek(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		length     int64
		limit      int
		want       string
		code       ambit.Code
	}{
		{"none", "", 0, 10, "", ""},
		{"whole", "0123456789", 10, 10, "0123456789", ""},
		{"of unknown length", "0123456789", -1, 10, "0123456789", ""},
		{"declared too long", "0123456789", 10, 9, "", ambit.CodeInputTooLarge},
		{"too long", "0123456789", -1, 9, "", ambit.CodeInputTooLarge},
		{"longer than strangers may send", strings.Repeat("x", trust.MaxAnonymousBody+1), -1, 1 << 20, "", ambit.CodeInputTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = tt.length
			got, refused := trust.Peek(r, tt.limit)
			if code := codeOf(refused); code != tt.code || string(got) != tt.want {
				t.Fatalf("want %q and %q, got %q and %v", tt.want, tt.code, got, refused)
			}
			again, failure := trust.ReadBody(nil, r, identity("alice"), nil, len(tt.body)+1)
			if failure != nil || string(again) != tt.body {
				t.Errorf("the body afterwards: want %d bytes, got %d and %v", len(tt.body), len(again), failure)
			}
		})
	}
}
