package trust_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// The operator is told why a signature does not hold, and not how often.
func TestWhyASignatureDoesNotHoldIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		plain := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		app := newApp(ambit.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: plain}))})
		verifier := &agents{}
		guard, err := trust.NewGuard(app, trust.Options{Agents: verifier})
		if err != nil {
			t.Fatal(err)
		}
		send := func(from string, signed *trust.SignedRequest) string {
			log.Reset()
			*verifier = agents{signed: signed}
			r := request()
			r.RemoteAddr = from
			i, refused := guard.Admit(r)
			if refused != nil {
				t.Fatal(refused)
			}
			guard.Settle(r, i, nil)
			return log.String()
		}
		bot := ambit.AgentIdentity{URL: "https://bot.example/", Key: "k", Level: ambit.AgentOnce}
		unknown := func() *trust.SignedRequest {
			return &trust.SignedRequest{Outcome: "unverified/agent-not-allowed", Named: ambit.AgentIdentity{URL: "https://x.example/\u202e" + strings.Repeat("x", 300), Key: "k2"}}
		}
		replayed := func() *trust.SignedRequest {
			s := &trust.SignedRequest{Agent: bot, Outcome: "verified"}
			s.Settle = func(context.Context, []byte) ambit.AgentIdentity {
				s.Outcome, s.Named = "invalid/replayed", bot
				return ambit.AgentIdentity{}
			}
			return s
		}
		const near, far = "127.0.0.1:1", "127.0.0.2:1"
		line := func(because, agent, key, address string) string {
			return "level=INFO msg=\"the signature of an agent does not hold\" because=" + because + " agent=" + agent + " key=" + key + " address=" + address + "\n"
		}
		ofUnknown := line("unverified/agent-not-allowed", `https://x.example/\u202e`+strings.Repeat("x", 179)+`...`, "k2", "127.0.0.1")
		for i, step := range []struct {
			from   string
			signed *trust.SignedRequest
			after  time.Duration
			want   string
		}{
			{near, nil, 0, ""},
			{near, &trust.SignedRequest{Agent: bot, Outcome: "verified"}, 0, ""},
			{near, unknown(), 0, ofUnknown},
			{near, unknown(), 0, ""},
			{near, replayed(), 0, line("invalid/replayed", "https://bot.example/", "k", "127.0.0.1")},
			{far, replayed(), 0, line("invalid/replayed", "https://bot.example/", "k", "127.0.0.2")},
			{near, unknown(), 59 * time.Second, ""},
			{near, unknown(), time.Second, ofUnknown},
		} {
			time.Sleep(step.after)
			if diff := cmp.Diff(step.want, send(step.from, step.signed)); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i+1, diff)
			}
		}
	})
}

// A caller hears that its signature does not do, and not why; whether it holds and
// binds too little makes no difference.
func TestRefusalSaysThatASignatureDoesNotDo(t *testing.T) {
	t.Parallel()
	bare := &ambit.Error{Code: ambit.CodeAgentRequired, Message: "Sign."}
	const does = "Sign. The signature that came with the request does not do."
	for _, tt := range []struct {
		name        string
		identity    *trust.Identity
		refused     *ambit.Error
		development bool
		want        string
	}{
		{"nobody", nil, bare, false, "Sign."},
		{"not signed", &trust.Identity{}, bare, false, "Sign."},
		{"does not hold", &trust.Identity{Signed: &trust.SignedRequest{Outcome: "invalid/replayed"}}, bare, false, does},
		{"binds too little", &trust.Identity{Signed: &trust.SignedRequest{Agent: ambit.AgentIdentity{URL: "https://bot.example/"}, Outcome: "verified"}}, bare, false, does},
		{"in development", &trust.Identity{Signed: &trust.SignedRequest{Outcome: "invalid/replayed"}}, bare, true, does + " It was found to be invalid/replayed."},
		{"another refusal", &trust.Identity{Signed: &trust.SignedRequest{Outcome: "invalid/replayed"}}, &ambit.Error{Code: ambit.CodeForbidden, Message: "No."}, true, "No."},
	} {
		got := tt.identity.Explain(tt.refused, tt.development)
		if got.Message != tt.want || got.Code != tt.refused.Code {
			t.Errorf("%s: want %q, got %q", tt.name, tt.want, got.Message)
		}
	}
	if bare.Message != "Sign." {
		t.Error("the error that was given has been changed")
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
