package ambit_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// TestT31_AgentPolicy holds what each policy makes of each agent, on a way in
// that has agents and on one that has none.
func TestT31_AgentPolicy(t *testing.T) {
	t.Parallel()
	const ok = ambit.Code("")
	levels := []ambit.AgentLevel{ambit.AgentNone, ambit.AgentIdentified, ambit.AgentRequest, ambit.AgentOnce}
	required := func(from ambit.AgentLevel) (codes [4]ambit.Code) {
		for i := range from {
			codes[i] = ambit.CodeAgentRequired
		}
		return codes
	}
	tests := []struct {
		name         string
		spec, common ambit.AgentPolicy
		effect       ambit.Effect
		idempotent   bool
		want         [4]ambit.Code // by level
		seen         bool
	}{
		{name: "nothing said", effect: ambit.Write, seen: true},
		{name: "off", spec: ambit.AgentOff, effect: ambit.Write},
		{name: "off, whatever others need", spec: ambit.AgentOff, common: ambit.RequireAgentOnce, effect: ambit.Write},
		{name: "observe", spec: ambit.AgentObserve, common: ambit.RequireAgentOnce, effect: ambit.Write, seen: true},
		{name: "require, read", spec: ambit.RequireAgent, effect: ambit.Read, want: required(ambit.AgentIdentified), seen: true},
		{name: "require, of all", common: ambit.RequireAgent, effect: ambit.Read, want: required(ambit.AgentIdentified), seen: true},
		{name: "require, write", spec: ambit.RequireAgent, effect: ambit.Write, want: required(ambit.AgentOnce), seen: true},
		{name: "require, idempotent write", spec: ambit.RequireAgent, effect: ambit.Write, idempotent: true, want: required(ambit.AgentIdentified), seen: true},
		{name: "request, read", spec: ambit.RequireAgentRequest, effect: ambit.Read, want: required(ambit.AgentRequest), seen: true},
		{name: "request, external", spec: ambit.RequireAgentRequest, effect: ambit.External, want: required(ambit.AgentOnce), seen: true},
		{name: "once, read", spec: ambit.RequireAgentOnce, effect: ambit.Read, want: required(ambit.AgentOnce), seen: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var seen ambit.AgentIdentity
			app := ambit.New(ambit.Options{Name: "test", AgentPolicy: tt.common})
			app.Add(ambit.Define(ambit.Spec{
				Name: "act", Description: "Act.", Effect: tt.effect, Permission: ambit.Public, Expose: ambit.HTTP,
				AgentPolicy: tt.spec, Idempotent: tt.idempotent,
			}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
				seen = ambit.FromContext(ctx).Agent()
				return ambit.Empty{}, nil
			}))
			call := func(surface ambit.Surface, agent ambit.AgentIdentity) error {
				ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
					Principal: &ambit.Principal{Kind: ambit.KindAnonymous}, Surface: surface, Agent: agent, Mode: ambit.ModeAuto,
					Prompter: ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) { return ambit.Allow, nil }),
				})
				defer run.End()
				admitted := run.Admit(ctx, "act")
				_, err := run.Invoke(ctx, ambit.Request{Name: "act"})
				if ambit.CodeOf(admitted) != ambit.CodeOf(err) {
					t.Errorf("%s: the call answers %v, and admit %v", agent.Level, err, admitted)
				}
				return err
			}
			for i, level := range levels {
				agent := ambit.AgentIdentity{}
				if level != ambit.AgentNone {
					agent = ambit.AgentIdentity{URL: "https://bot.example/", Key: "k", Level: level}
				}
				seen = ambit.AgentIdentity{}
				err := call(ambit.HTTP, agent)
				if got := ambit.CodeOf(err); got != tt.want[i] {
					t.Errorf("%s: want %q, got %v", level, tt.want[i], err)
				}
				want := ambit.AgentIdentity{}
				if tt.seen && tt.want[i] == ok {
					want = agent
				}
				if diff := cmp.Diff(want, seen); diff != "" {
					t.Errorf("%s: what the handler sees (-want +got):\n%s", level, diff)
				}
			}
			for _, surface := range []ambit.Surface{ambit.InProcess, ambit.CommandLine} {
				if err := call(surface, ambit.AgentIdentity{}); err != nil {
					t.Errorf("%s: want no error, got %v", surface, err)
				}
			}
		})
	}
}

// TestT31_OnceUnavailable holds that nobody is told to sign differently when it is
// the application that cannot tell.
func TestT31_OnceUnavailable(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "test"})
	for name, policy := range map[string]ambit.AgentPolicy{"once": ambit.RequireAgentOnce, "request": ambit.RequireAgentRequest} {
		app.Add(ambit.Define(ambit.Spec{
			Name: name, Description: "Act.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP, AgentPolicy: policy,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	}
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: &ambit.Principal{Kind: ambit.KindAnonymous}, Surface: ambit.HTTP,
		Agent: ambit.AgentIdentity{URL: "https://bot.example/", Key: "k", Level: ambit.AgentRequest, OnceUnavailable: true},
	})
	defer run.End()
	for name, want := range map[string]ambit.Code{"once": ambit.CodeUnavailable, "request": ""} {
		if got := ambit.CodeOf(run.Admit(ctx, name)); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
}

// TestT31_AgentOfNestedCalls holds that what a handler calls, and runs that it
// begins, are carried by the agent that carried the outermost call, and that it
// can name no other.
func TestT31_AgentOfNestedCalls(t *testing.T) {
	t.Parallel()
	bot := ambit.AgentIdentity{URL: "https://bot.example/", Key: "k", Level: ambit.AgentIdentified}
	app := ambit.New(ambit.Options{Name: "test"})
	var seen []ambit.AgentIdentity
	inner := ambit.NewContract[ambit.Empty, ambit.Empty](ambit.Spec{
		Name: "inner", Description: "Act.", Effect: ambit.Read, Permission: ambit.Public, AgentPolicy: ambit.RequireAgent,
	})
	app.Add(inner.Bind(func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		seen = append(seen, ambit.FromContext(ctx).Agent())
		return ambit.Empty{}, nil
	}), ambit.Define(ambit.Spec{Name: "outer", Description: "Act.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.MCP},
		func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
			if _, err := inner.Call(ctx, ambit.Empty{}); err != nil {
				return ambit.Empty{}, err
			}
			ctx, run := app.NewRun(ctx, ambit.RunOptions{Agent: ambit.AgentIdentity{URL: "https://other.example/", Level: ambit.AgentOnce}})
			defer run.End()
			_, err := inner.Call(ctx, ambit.Empty{})
			return ambit.Empty{}, err
		}))
	for _, agent := range []ambit.AgentIdentity{bot, {}} {
		seen = nil
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}, Surface: ambit.MCP, Agent: agent})
		defer run.End()
		_, err := run.Invoke(ctx, ambit.Request{Name: "outer"})
		if agent.Verified() != (err == nil) {
			t.Errorf("carried by %q: got %v", agent, err)
		}
		if want := []ambit.AgentIdentity{bot, bot}; agent.Verified() && !cmp.Equal(want, seen) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(want, seen))
		}
	}
}

func TestAgentNames(t *testing.T) {
	t.Parallel()
	got := []string{
		ambit.AgentIdentity{URL: "https://bot.example/", Key: "k"}.String(), ambit.AgentIdentity{Key: "k"}.String(),
		ambit.AgentOnce.String(), ambit.AgentLevel(9).String(), ambit.RequireAgentRequest.String(), ambit.AgentPolicy(9).String(),
	}
	if diff := cmp.Diff([]string{"https://bot.example/ k", "", "once", "invalid", "require-request", "invalid"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
