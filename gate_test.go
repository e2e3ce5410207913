package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
)

var (
	effects  = []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External, ambit.Destructive}
	modes    = []ambit.Mode{ambit.ModePlan, ambit.ModeDefault, ambit.ModeGuarded, ambit.ModeAuto}
	answers  = []ambit.Answer{ambit.Deny, ambit.Allow, ambit.AllowSession}
	surfaces = []ambit.Surface{ambit.InProcess, ambit.CommandLine, ambit.HTTP, ambit.MCP}
)

// monitored is what a monitor does in one cell of the gate's table.
type monitored string

var monitors = []monitored{"none", "pass", "soft", "hard", "error"}

// refuses is an approver that keeps nothing.
type refuses struct{ ledger ambit.Ledger }

func (refuses) Propose(context.Context, ambit.Proposal, ambit.Inquiry) (ambit.Standing, error) {
	return ambit.Standing{}, errors.New("no proposals today")
}

func (refuses) Answering(context.Context, ambit.Binding) (ambit.Standing, error) {
	return ambit.Standing{}, errors.New("no proposals today")
}

func (refuses) Consent(context.Context, ambit.Proposal, bool) error {
	return errors.New("no records today")
}
func (r refuses) Ledger() ambit.Ledger { return r.ledger }

func newRing() *ambit.KeyRing {
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		panic(err)
	}
	return ring
}

// cell is one cell of the gate's table.
type cell struct {
	surface ambit.Surface
	effect  ambit.Effect
	mode    ambit.Mode
	answer  ambit.Answer
	grant   string // none, same, other
	monitor monitored
}

// outcome is what one call came to.
type outcome struct {
	Code     ambit.Code
	Asked    bool
	Reviewed bool
	Ran      bool
}

// want is the gate's table, told again.
func (c cell) want() outcome {
	var o outcome
	if c.effect == ambit.Read {
		return outcome{Ran: true}
	}
	if c.mode == ambit.ModePlan {
		return outcome{Code: ambit.CodeBlockedInPlanMode}
	}
	free := map[ambit.Mode]ambit.Effect{ambit.ModeDefault: ambit.Read, ambit.ModeGuarded: ambit.Write, ambit.ModeAuto: ambit.External}
	allowed := c.effect <= free[c.mode] || c.grant == "same" && c.effect != ambit.Destructive
	o.Reviewed = c.monitor != "none"
	switch {
	case c.monitor == "hard" || c.monitor == "error":
		o.Code = ambit.CodeBlockedByMonitor
		return o
	case allowed && c.monitor != "soft":
		o.Ran = true
		return o
	}
	o.Asked = true
	if o.Ran = c.answer != ambit.Deny; !o.Ran {
		o.Code = ambit.CodeDeclined
	}
	return o
}

// gateApp is an application of one capability in which everything that the gate
// talks to can be steered.
type gateApp struct {
	*ambit.App
	monitor                 monitored
	answer                  ambit.Answer
	asked, reviewed, ranAll atomic.Int64
}

func newGateApp(effect ambit.Effect, withMonitor bool, change func(*ambit.Spec), adjust ...func(*ambit.Options)) *gateApp {
	g := &gateApp{monitor: "pass"}
	spec := echoSpec()
	spec.Effect = effect
	if effect == ambit.Destructive {
		spec.Expose = ambit.HTTP
	}
	if change != nil {
		change(&spec)
	}
	var options ambit.Options
	if spec.Approval >= ambit.Human {
		options.Approver, options.Keys = newApprovals(storage.New()), newRing()
	}
	if withMonitor {
		options.Monitor = ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
			g.reviewed.Add(1)
			switch g.monitor {
			case "soft":
				return ambit.Verdict{Severity: ambit.Soft, Reason: "unusual"}, nil
			case "hard":
				return ambit.Verdict{Severity: ambit.Hard, Reason: "forbidden fruit"}, nil
			case "error":
				return ambit.Verdict{}, errors.New("model not reachable at 10.0.0.7")
			}
			return ambit.Verdict{}, nil
		})
	}
	for _, f := range adjust {
		f(&options)
	}
	g.App = newApp(options, ambit.Define(spec, func(ctx context.Context, in echoInput) (echoOutput, error) {
		g.ranAll.Add(1)
		return echo(ctx, in)
	}))
	return g
}

func (g *gateApp) Ask(context.Context, ambit.Question) (ambit.Answer, error) {
	g.asked.Add(1)
	return g.answer, nil
}

// call makes one call, with an input or the text of one, and says what it came
// to.
func (g *gateApp) call(t *testing.T, o ambit.RunOptions, text string) (outcome, error) {
	t.Helper()
	asked, reviewed, ran := g.asked.Load(), g.reviewed.Load(), g.ranAll.Load()
	o.Principal = alice
	ctx, run := g.NewRun(t.Context(), o)
	defer run.End()
	input := text
	if !strings.HasPrefix(text, "{") {
		input = `{"text":"` + text + `"}`
	}
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(input)})
	return outcome{
		Code: ambit.CodeOf(err), Asked: g.asked.Load() > asked, Reviewed: g.reviewed.Load() > reviewed, Ran: g.ranAll.Load() > ran,
	}, err
}

// Every cell: 5 effects, 4 modes, 3 answers, 3 states of the session, 5 of the
// monitor, on every surface.
func TestGateTable(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, surface := range surfaces {
		for _, effect := range effects {
			if surface == ambit.MCP && effect == ambit.Destructive {
				continue // refuses to start, see TestFreezeRefuses
			}
			for _, monitor := range monitors {
				for _, mode := range modes {
					for _, answer := range answers {
						for _, grant := range []string{"none", "same", "other"} {
							c := cell{surface, effect, mode, answer, grant, monitor}
							g := newGateApp(effect, monitor != "none", nil)
							o := ambit.RunOptions{Surface: surface, Mode: ambit.ModeDefault, Prompter: g, Session: ambit.NewSession()}
							if grant != "none" {
								text := "a"
								if grant == "other" {
									text = "b"
								}
								g.answer = ambit.AllowSession
								if _, err := g.call(t, o, text); err != nil {
									t.Fatalf("%+v: granting: %v", c, err)
								}
							}
							if grant == "other" && effect == ambit.Write {
								o.Session = ambit.NewSession() // a write's grant holds for the capability, so there is no other
							}
							g.monitor, g.answer, o.Mode = monitor, answer, mode
							got, _ := g.call(t, o, "a")
							if diff := cmp.Diff(c.want(), got); diff != "" {
								t.Errorf("%+v (-want +got):\n%s", c, diff)
							}
							cells++
						}
					}
				}
			}
		}
	}
	if want := (4*5 - 1) * 5 * 4 * 3 * 3; cells != want {
		t.Errorf("want %d cells, got %d", want, cells)
	}
}

// The exact text of every refusal, by surface.
func TestGateRefusals(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	line := func(name string, err error) {
		text, marshalErr := json.Marshal(failure(t, err))
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		fmt.Fprintf(&got, "%s\n\t%s\n", name, text)
	}
	for _, surface := range surfaces {
		g := newGateApp(ambit.External, true, nil)
		_, err := g.call(t, ambit.RunOptions{Surface: surface, Mode: ambit.ModePlan, Prompter: g}, "a")
		line(surface.String()+": plan mode", err)
		_, err = g.call(t, ambit.RunOptions{Surface: surface, Mode: ambit.ModeDefault, Prompter: g}, "a")
		line(surface.String()+": the person said no", err)
		_, err = g.call(t, ambit.RunOptions{Surface: surface, Mode: ambit.ModeDefault}, "a")
		line(surface.String()+": no one to ask", err)
		for _, m := range []monitored{"soft", "hard", "error"} {
			g.monitor = m
			_, err = g.call(t, ambit.RunOptions{Surface: surface, Mode: ambit.ModeAuto}, "a")
			line(surface.String()+": monitor "+string(m), err)
		}
		g = newGateApp(ambit.Read, false, func(s *ambit.Spec) { s.Approval = ambit.Confirm })
		_, err = g.call(t, ambit.RunOptions{Surface: surface}, "a")
		line(surface.String()+": needs confirm", err)
	}
	golden(t, "gate_refusals.txt", got.String())
}

// What says yes to Confirm says nothing to Human: consent is not approval.
func TestT13_ConsentIsNotApproval(t *testing.T) {
	t.Parallel()
	for approval, want := range map[ambit.Approval]outcome{
		ambit.Confirm:  {Asked: true, Ran: true},
		ambit.Human:    {Code: ambit.CodeApprovalPending},
		ambit.FourEyes: {Code: ambit.CodeApprovalPending},
	} {
		g := newGateApp(ambit.Read, false, func(s *ambit.Spec) { s.Approval = approval })
		g.answer = ambit.Allow
		got, _ := g.call(t, ambit.RunOptions{Mode: ambit.ModeAuto, Prompter: g}, "a")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", approval, diff)
		}
	}
}

// An error, a panic and an answer that is none mean no.
func TestPrompterFailsClosed(t *testing.T) {
	t.Parallel()
	for name, prompter := range map[string]ambit.PrompterFunc{
		"error":  func(context.Context, ambit.Question) (ambit.Answer, error) { return ambit.Allow, errors.New("hung up") },
		"panic":  func(context.Context, ambit.Question) (ambit.Answer, error) { panic("oh") },
		"answer": func(context.Context, ambit.Question) (ambit.Answer, error) { return 7, nil },
	} {
		g := newGateApp(ambit.Write, false, nil)
		if got, _ := g.call(t, ambit.RunOptions{Mode: ambit.ModeDefault, Prompter: prompter}, "a"); got.Code != ambit.CodeDeclined || got.Ran {
			t.Errorf("%s: want declined, got %+v", name, got)
		}
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGateApp(ambit.External, false, func(s *ambit.Spec) { s.GrantBy = []string{"text"} })
		session := ambit.NewSession()
		o := ambit.RunOptions{Mode: ambit.ModeDefault, Prompter: g, Session: session}
		asked := func(name, text string, want bool) {
			t.Helper()
			if got, err := g.call(t, o, text); got.Asked != want || err != nil {
				t.Errorf("%s: want asked %v, got %v, %v", name, want, got.Asked, err)
			}
		}
		g.answer = ambit.Allow
		asked("allowed once", "a", true)
		g.answer = ambit.AllowSession
		asked("not kept", "a", true)
		g.answer = ambit.Allow
		asked("kept", "a", false)
		asked("kept, whatever the other members", `{"text":"a","times":3}`, false)
		asked("another value", "b", true)
		<-time.After(ambit.SessionLife)
		asked("after 8 hours", "a", true)
		g.answer = ambit.AllowSession
		asked("again", "a", true)
		session.Revoke()
		asked("revoked", "a", true)
	})
}

// A grant is for the contract that the person was asked about: not for another
// principal, and not for what has the same name and is something else.
func TestSessionIsBoundToTheContract(t *testing.T) {
	t.Parallel()
	session := ambit.NewSession()
	for _, step := range []struct {
		name   string
		change func(*ambit.Spec)
		want   bool // whether somebody is asked
	}{
		{"first", nil, true},
		{"again", nil, false},
		{"another revision", func(s *ambit.Spec) { s.Revision = "2" }, true},
		{"another permission", func(s *ambit.Spec) { s.Permission = ambit.Authenticated }, true},
		{"another title", func(s *ambit.Spec) { s.Title = "Other" }, false},
	} {
		g := newGateApp(ambit.Write, false, step.change)
		g.answer = ambit.AllowSession
		got, err := g.call(t, ambit.RunOptions{Mode: ambit.ModeDefault, Prompter: g, Session: session}, "a")
		if got.Asked != step.want || err != nil {
			t.Errorf("%s: want asked %v, got %v, %v", step.name, step.want, got.Asked, err)
		}
	}
}

// The person sees everything, in the order that matters, and nothing that the
// screen would obey.
func TestT10_Question(t *testing.T) {
	t.Parallel()
	type input struct {
		To       string `json:"to"`
		Password string `json:"password" secret:"true"`
		Count    int    `json:"count" default:"1" minimum:"1"`
	}
	spec := echoSpec()
	spec.Title, spec.Effect = "Send a mail", ambit.External
	capability := ambit.Define(spec, func(context.Context, input) (ambit.Empty, error) { return ambit.Empty{}, nil }).
		WithStatus(func(in input) string { return "Sends 1 mail to " + in.To })
	var question ambit.Question
	var reviewed ambit.Action
	app := newApp(ambit.Options{Monitor: ambit.MonitorFunc(func(_ context.Context, a ambit.Action) (ambit.Verdict, error) {
		reviewed = a
		return ambit.Verdict{Severity: ambit.Soft, Reason: "never mailed before"}, nil
	})}, capability)
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: alice, Mode: ambit.ModeDefault,
		Prompter: ambit.PrompterFunc(func(_ context.Context, q ambit.Question) (ambit.Answer, error) {
			question = q
			return ambit.Allow, nil
		}),
	})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{
		Name: "echo", Input: []byte(`{"to":"eve\u202e","password":"hunter2"}`), Reason: "the user\u202e said so\nAllow this",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`Send a mail (echo, external)`,
		`Input: {"to":"eve\u202e","password":"(secret)","count":1}`,
		`Sends 1 mail to eve\u202e`,
		`Concern: never mailed before`,
		`The caller says: "the user\u202e said so"`, "",
	}, "\n")
	if diff := cmp.Diff(want, question.String()); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	if strings.Contains(string(reviewed.Input), "hunter2") {
		t.Errorf("the monitor was shown a secret: %s", reviewed.Input)
	}
}

// Nobody is asked about what is invalid, blocked, or a read.
func TestNobodyIsAskedInVain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		effect ambit.Effect
		mode   ambit.Mode
		text   string
		want   ambit.Code
	}{
		"invalid input": {ambit.Destructive, ambit.ModeDefault, "", ambit.CodeInvalidInput},
		"blocked":       {ambit.External, ambit.ModePlan, "a", ambit.CodeBlockedInPlanMode},
		"read":          {ambit.Read, ambit.ModeDefault, "a", ""},
	} {
		g := newGateApp(test.effect, true, nil)
		got, _ := g.call(t, ambit.RunOptions{Mode: test.mode, Prompter: g}, test.text)
		if diff := cmp.Diff(outcome{Code: test.want, Ran: test.want == ""}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A call may ask for a stricter mode than its run's, and never for a looser.
func TestT18_StricterOnRequest(t *testing.T) {
	t.Parallel()
	for _, run := range modes {
		for _, asked := range append([]ambit.Mode{ambit.ModeUnset}, modes...) {
			g := newGateApp(ambit.Write, false, nil)
			ctx, r := g.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Mode: run})
			_, err := r.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`), Mode: asked})
			effective := run
			if asked != ambit.ModeUnset && asked < run {
				effective = asked
			}
			want := map[ambit.Mode]ambit.Code{ambit.ModePlan: ambit.CodeBlockedInPlanMode, ambit.ModeDefault: ambit.CodeDeclined}[effective]
			if got := ambit.CodeOf(err); got != want {
				t.Errorf("run %s, asked for %s: want %q, got %q", run, asked, want, got)
			}
			r.End()
		}
	}
}

// The operator is told once for each capability that nobody can be asked about
// it, however often it is called.
func TestOperatorIsToldOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	spec := echoSpec()
	spec.Effect, spec.Expose = ambit.Destructive, ambit.HTTP
	app := newApp(ambit.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, ambit.Define(spec, echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for range 3 {
		if got := invokeEcho(ctx, run); got != ambit.CodeConfirmationUnavailable {
			t.Errorf("want confirmation_unavailable, got %q", got)
		}
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 {
		t.Errorf("want one line, got %d:\n%s", got, log.String())
	}
}
