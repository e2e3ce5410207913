package ambittest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// newDoer is an application with one capability of an effect, which is exposed
// wherever it can be called.
func newDoer(effect ambit.Effect, o ambit.Options) *ambit.App {
	o.Name, o.Logger = "doer", slog.New(slog.DiscardHandler)
	app := ambit.New(o)
	expose := ambit.HTTP
	if effect != ambit.Destructive {
		expose |= ambit.MCP
	}
	app.Add(ambit.Define(ambit.Spec{
		Name: "do", Description: "Do it.", Effect: effect, Permission: ambit.Public, Expose: expose,
	}, func(context.Context, doInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	return app
}

type doInput struct {
	N *int `json:"n"`
}

// inMode answers the runs of a mode.
func inMode(mode ambit.Mode, p *ambittest.Prompter) func(context.Context, ambit.RunOptions) ambit.RunOptions {
	return func(ctx context.Context, o ambit.RunOptions) ambit.RunOptions {
		o.Mode = mode
		return p.RunOptions(ctx, o)
	}
}

// gateState is what one cell of the gate's table is made of.
type gateState struct {
	mode    ambit.Mode
	answer  ambit.Answer
	session *ambit.Session
	monitor string // none, pass, soft, hard, error
	asked   int
	shown   int
}

func (g *gateState) runOptions(_ context.Context, o ambit.RunOptions) ambit.RunOptions {
	o.Mode, o.Session = g.mode, g.session
	o.Prompter = ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) {
		g.asked++
		return g.answer, nil
	})
	return o
}

func (g *gateState) Review(context.Context, ambit.Action) (ambit.Verdict, error) {
	g.shown++
	switch g.monitor {
	case "soft":
		return ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}, nil
	case "hard":
		return ambit.Verdict{Severity: ambit.Hard, Reason: "too much"}, nil
	case "error":
		return ambit.Verdict{}, errors.New("not reachable")
	}
	return ambit.Verdict{}, nil
}

// want is what a call comes to: its code, and whether somebody is asked and the
// monitor is shown it.
func (g *gateState) want(effect ambit.Effect, granted bool) (code ambit.Code, asked, shown bool) {
	free := map[ambit.Mode]ambit.Effect{
		ambit.ModePlan: ambit.Read, ambit.ModeDefault: ambit.Read, ambit.ModeGuarded: ambit.Write, ambit.ModeAuto: ambit.External,
	}
	allowed := effect <= free[g.mode] || granted && effect != ambit.Destructive
	shown = g.monitor != "none"
	switch {
	case effect == ambit.Read:
		return "", false, false
	case g.mode == ambit.ModePlan:
		return ambit.CodeBlockedInPlanMode, false, false
	case g.monitor == "hard" || g.monitor == "error":
		return ambit.CodeBlockedByMonitor, false, shown
	case allowed && g.monitor != "soft":
		return "", false, shown
	case g.answer == ambit.Deny:
		return ambit.CodeDeclined, true, shown
	}
	return "", true, shown
}

// The gate decides alike on every way in: 5 effects, 4 modes, 3 answers, 3
// states of the session, 5 of the monitor.
func TestGateTable(t *testing.T) {
	t.Parallel()
	for _, way := range ambittest.Ways() {
		for effect := ambit.Read; effect <= ambit.Destructive; effect++ {
			if way.Surface() == ambit.MCP && effect == ambit.Destructive {
				continue // see TestT18_DestructiveOnMCP
			}
			for _, monitor := range []string{"none", "pass", "soft", "hard", "error"} {
				g := &gateState{}
				o := ambit.Options{RunOptions: g.runOptions, Limits: ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}}}
				if monitor != "none" {
					o.Monitor = g
				}
				client := ambittest.New(t, newDoer(effect, o)).As(planner).Over(way)
				for mode := ambit.ModePlan; mode <= ambit.ModeAuto; mode++ {
					for answer := ambit.Deny; answer <= ambit.AllowSession; answer++ {
						for _, grant := range []string{"none", "same", "other"} {
							*g = gateState{mode: ambit.ModeDefault, answer: ambit.AllowSession, session: ambit.NewSession(), monitor: "pass"}
							if grant != "none" {
								client.Call("do", map[string]string{"same": `{"n":1}`, "other": `{"n":2}`}[grant])
							}
							if grant == "other" && effect == ambit.Write {
								g.session = ambit.NewSession() // a write's grant holds for every input
							}
							*g = gateState{mode: mode, answer: answer, session: g.session, monitor: monitor}
							code, asked, shown := g.want(effect, grant == "same")
							got := client.Call("do", `{"n":1}`)
							if (got.Err == nil) != (code == "") || got.Err != nil && got.Err.Code != code || (g.asked == 1) != asked || (g.shown == 1) != shown {
								t.Errorf("%s, %s, %s, answer %d, grant %s, monitor %s: want %q, asked %v, shown %v; got %v, asked %d and shown %d times",
									way, effect, mode, answer, grant, monitor, code, asked, shown, got.Err, g.asked, g.shown)
							}
						}
					}
				}
			}
		}
	}
}

// What is destructive is not served over MCP as long as no person can approve it.
func TestT18_DestructiveOnMCP(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "doer", RunOptions: ambittest.Answers(t).RunOptions})
	app.Add(ambit.Define(ambit.Spec{
		Name: "do", Description: "Do it.", Effect: ambit.Destructive, Permission: ambit.Public, Expose: ambit.MCP,
	}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	got := failure(t, func(t ambittest.T) { ambittest.New(t, app) })
	if !strings.Contains(got, `capability "do" is destructive and exposed on MCP`) {
		t.Errorf("want it refused, got %q", got)
	}
}

// What a caller is told when the gate refuses, word for word on every way in.
func TestGateRefusals(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, way := range ambittest.Ways() {
		for _, test := range []struct {
			name    string
			mode    ambit.Mode
			answers []ambit.Answer
			verdict ambit.Verdict
		}{
			{"plan mode", ambit.ModePlan, nil, ambit.Verdict{}},
			{"the person said no", ambit.ModeDefault, []ambit.Answer{ambit.Deny}, ambit.Verdict{}},
			{"the person said no to a concern", ambit.ModeAuto, []ambit.Answer{ambit.Deny}, ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}},
			{"the monitor blocks", ambit.ModeAuto, nil, ambit.Verdict{Severity: ambit.Hard, Reason: "too much"}},
		} {
			var monitor *ambittest.Monitor
			if test.mode == ambit.ModePlan {
				monitor = ambittest.Verdicts(t)
			} else {
				monitor = ambittest.Verdicts(t, test.verdict)
			}
			answers := ambittest.Answers(t, test.answers...)
			h := ambittest.New(t, newDoer(ambit.External, ambit.Options{Monitor: monitor, RunOptions: inMode(test.mode, answers)}))
			text, err := json.Marshal(h.As(planner).Over(way).Call("do", "{}").Err)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s: %s\n\t%s\n", way, test.name, text)
			answers.CheckAsked()
			monitor.CheckShown()
		}
	}
	ambittest.Golden(t, "testdata/gate_refusals.txt", got.String(), *update)
}

// A test of time runs in a bubble of testing/synctest, where hours pass at once:
// the host has no goroutines that would hold them up.
func TestSessionRunsOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := ambittest.Answers(t, ambit.AllowSession, ambit.Deny)
		session := ambit.NewSession()
		h := ambittest.New(t, newDoer(ambit.Write, ambit.Options{RunOptions: func(ctx context.Context, o ambit.RunOptions) ambit.RunOptions {
			o.Session, o.Mode = session, ambit.ModeDefault
			return answers.RunOptions(ctx, o)
		}}))
		edith := h.As(planner).Over(ambittest.HTTP)
		edith.Call("do", "").OK()
		<-time.After(ambit.SessionLife - time.Second)
		edith.Call("do", "").OK()
		<-time.After(time.Second)
		edith.Call("do", "").Refused(ambit.CodeDeclined)
		answers.CheckAsked()
	})
}

// What a prompter and a monitor were shown is there to be looked at.
func TestScripts(t *testing.T) {
	t.Parallel()
	answers := ambittest.Answers(t, ambit.Allow)
	monitor := ambittest.Verdicts(t, ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"})
	h := ambittest.New(t, newApp(ambit.Options{Monitor: monitor, RunOptions: answers.RunOptions}))
	ambittest.Call(h.As(planner).Over(ambittest.MCP), plan, planInput{Title: "trip"})
	if asked := answers.Questions(); len(asked) != 1 || asked[0].Capability != "plan.make" || asked[0].Concern != "unusual" {
		t.Errorf("want a question about plan.make and its concern, got %+v", asked)
	}
	if shown := monitor.Actions(); len(shown) != 1 || cmp.Diff(`{"title":"trip","steps":2}`, string(shown[0].Input)) != "" {
		t.Errorf("want the action with its input, got %+v", shown)
	}
}

func TestGateTableOfAnApplication(t *testing.T) {
	t.Parallel()
	approvals, err := approval.New(memory.New(), approval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(ambit.Options{Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeDefault}, Approver: approvals, Keys: keys})
	for approval := ambit.Confirm; approval <= ambit.FourEyes; approval++ {
		app.Add(ambit.Define(ambit.Spec{
			Name: "ask." + strings.ReplaceAll(approval.String(), "-", "_"), Description: "Ask first.", Effect: ambit.Read, Permission: ambit.Public, Approval: approval,
		}, sayHello))
	}
	app.Add(ambit.Define(ambit.Spec{
		Name: "plan.burn", Description: "Burn all plans.", Effect: ambit.Destructive, Permission: ambit.Public,
	}, sayHello))
	h := ambittest.New(t, app)
	ambittest.Golden(t, "testdata/gate_table.txt", h.GateTable(), *update)
	ambittest.Golden(t, "testdata/effects.txt", h.Effects(), *update)
}

func TestGoldenShowsTheDifference(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "effects.txt")
	ambittest.Golden(t, path, "hello: read\n", true)
	ambittest.Golden(t, path, "hello: read\n", false)
	said := failure(t, func(failing ambittest.T) { ambittest.Golden(failing, path, "hello: write\n", false) })
	for _, want := range []string{path, "-want +got", "hello: read", "hello: write"} {
		if !strings.Contains(said, want) {
			t.Errorf("want %q in it, got %q", want, said)
		}
	}
}
