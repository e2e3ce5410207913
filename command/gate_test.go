package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// terminal is one on which somebody types what was written down, and that shows
// what is written to it.
type terminal struct{ *bytes.Buffer }

func newTerminal(typed string) terminal { return terminal{bytes.NewBufferString(typed)} }

func (terminal) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }

// newGated is an application with a capability of each effect and each approval,
// and one that makes two equal calls.
func newGated(ran *int, o ambit.Options) *ambit.App {
	o.Name, o.Logger = "gated", slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{Logger: o.Logger})
	keys, keyErr := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil || keyErr != nil {
		panic(errors.Join(err, keyErr))
	}
	o.Approver, o.Keys = approvals, keys
	app := ambit.New(o)
	mail := ambit.NewContract[greetInput, greetOutput](ambit.Spec{
		Name: "mail", Title: "Send a mail", Description: "Send one mail.", Effect: ambit.External, Permission: ambit.Public,
	})
	app.Add(mail.Bind(func(ctx context.Context, in greetInput) (greetOutput, error) {
		*ran++
		return greet(ctx, in)
	}), ambit.Define(ambit.Spec{
		Name: "mail.twice", Description: "Send the same mail twice.", Effect: ambit.External, Permission: ambit.Public,
	}, func(ctx context.Context, in greetInput) (greetOutput, error) {
		if _, err := mail.Call(ctx, in); err != nil {
			return greetOutput{}, ambit.Errorf(ambit.CodeConflict, "Not even one mail was sent.")
		}
		return mail.Call(ctx, in)
	}))
	for effect := ambit.Read; effect <= ambit.Destructive; effect++ {
		for approval := ambit.ApprovalUnset; approval <= ambit.FourEyes; approval++ {
			name := "do." + effect.String()
			if approval != ambit.ApprovalUnset {
				name += "." + strings.ReplaceAll(approval.String(), "-", "_")
			}
			app.Add(ambit.Define(ambit.Spec{
				Name: name, Description: "Do it.", Effect: effect, Permission: ambit.Public, Approval: approval,
			}, func(context.Context, ambit.Empty) (ambit.Empty, error) {
				*ran++
				return ambit.Empty{}, nil
			}))
		}
	}
	return app
}

// atTerminal runs the command line of the application on a terminal.
func atTerminal(t *testing.T, o ambit.Options, typed string, args ...string) (got result, ran int) {
	t.Helper()
	var stdout bytes.Buffer
	screen := newTerminal("")
	code := command.Run(t.Context(), newGated(&ran, o), command.Options{}, args, newTerminal(typed), &stdout, screen)
	return result{code, stdout.String(), screen.String()}, ran
}

// What was shown and asked, and how every refusal reads, for 5 effects, 4 modes
// and 3 answers.
func TestGateTable(t *testing.T) {
	t.Parallel()
	free := map[ambit.Mode]ambit.Effect{
		ambit.ModePlan: ambit.Read, ambit.ModeDefault: ambit.Read, ambit.ModeGuarded: ambit.Write, ambit.ModeAuto: ambit.External,
	}
	var texts strings.Builder
	for effect := ambit.Read; effect <= ambit.Destructive; effect++ {
		for mode := ambit.ModePlan; mode <= ambit.ModeAuto; mode++ {
			for _, typed := range []string{"n\n", "y\n", "s\n"} {
				got, ran := atTerminal(t, ambit.Options{}, typed, "call", "do."+effect.String(), "--mode", mode.String())
				allowed := effect <= free[mode]
				asked := !allowed && mode != ambit.ModePlan
				runs := 0
				if allowed || asked && typed != "n\n" {
					runs = 1
				}
				cell := fmt.Sprintf("%s %s %s", effect, mode, strings.TrimSpace(typed))
				if ran != runs || strings.Contains(got.Stderr, "Run it?") != asked || (got.Code == 0) != (runs == 1) || (got.Stdout == "{}\n") != (runs == 1) {
					t.Errorf("%s: want asked %v, run %d times; got run %d times, %+v", cell, asked, runs, ran, got)
				}
				fmt.Fprintf(&texts, "%s: exit code %d\n%s", cell, got.Code, indent(got.Stderr))
			}
		}
	}
	golden(t, "gate_table.txt", texts.String())
}

// Where there is nobody to ask, and what --yes is an answer to.
func TestT13_YesIsNoApproval(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for effect := ambit.Read; effect <= ambit.Destructive; effect++ {
		for approval := ambit.ApprovalUnset; approval <= ambit.FourEyes; approval++ {
			name := "do." + effect.String()
			if approval != ambit.ApprovalUnset {
				name += "." + strings.ReplaceAll(approval.String(), "-", "_")
			}
			got, ran := atTerminal(t, ambit.Options{}, "", "call", name, "--yes")
			if want := approval <= ambit.Confirm; (ran == 1) != want || (got.Code == 0) != want {
				t.Errorf("%s --yes: want it run %v, got %d times, %+v", name, want, ran, got)
			}
			fmt.Fprintf(&texts, "%s --yes: exit code %d\n%s", name, got.Code, indent(got.Stderr))
			unasked := run(t.Context(), command.Program{Name: "gated", Open: func(context.Context) (*ambit.App, command.Options, error) {
				return newGated(&ran, ambit.Options{}), command.Options{}, nil
			}}, "call", name)
			fmt.Fprintf(&texts, "%s without a terminal: exit code %d\n%s", name, unasked.Code, indent(unasked.Stderr))
		}
	}
	golden(t, "gate_answers.txt", texts.String())
}

// A request for another mode is heard where it is for a stricter one.
func TestT18_ModeIsStricterOnly(t *testing.T) {
	t.Parallel()
	plans := ambit.Options{Modes: map[ambit.Surface]ambit.Mode{ambit.CommandLine: ambit.ModePlan}}
	for _, mode := range []string{"plan", "default", "guarded", "auto"} {
		got, ran := atTerminal(t, plans, "y\n", "call", "do.write", "--mode", mode, "--yes")
		if want := ambit.CodeBlockedInPlanMode.ExitCode(); got.Code != want || ran != 0 {
			t.Errorf("--mode %s: want exit code %d, got %+v, run %d times", mode, want, got, ran)
		}
	}
	if got, _ := atTerminal(t, plans, "", "call", "do.read", "--mode", "bold"); got.Code != ambit.CodeInvalidInput.ExitCode() {
		t.Errorf("--mode bold: want exit code 2, got %+v", got)
	}
}

// An answer "for this session" holds for the calls within the call, a yes for
// one of them, and the input that comes by standard input leaves no room for
// answers.
func TestAnswersWithinACall(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed string
		args        []string
		asked, ran  int
	}{
		{"one yes", "y\ny\nn\n", []string{`{"name":"Ada"}`}, 3, 1},
		{"for this session", "y\ns\n", []string{`{"name":"Ada"}`}, 2, 2},
		{"no", "y\nn\n", []string{`{"name":"Ada"}`}, 2, 0},
		{"--yes", "", []string{`{"name":"Ada"}`, "--yes"}, 0, 2},
		{"input on standard input", `{"name":"Ada"}`, []string{"-"}, 0, 0},
		{"input on standard input, and --yes", `{"name":"Ada"}`, []string{"-", "--yes"}, 0, 2},
	}
	for _, test := range tests {
		got, ran := atTerminal(t, ambit.Options{}, test.typed, append([]string{"call", "mail.twice", "--mode", "guarded"}, test.args...)...)
		if asked := strings.Count(got.Stderr, "Run it?"); asked != test.asked || ran != test.ran {
			t.Errorf("%s: want %d questions and %d mails, got %d and %d: %+v", test.name, test.asked, test.ran, asked, ran, got)
		}
	}
}

// The person sees the monitor's concern, and --yes does not answer it.
func TestConcern(t *testing.T) {
	t.Parallel()
	o := ambit.Options{Monitor: ambit.MonitorFunc(func(context.Context, ambit.Action) (ambit.Verdict, error) {
		return ambit.Verdict{Severity: ambit.Soft, Reason: "never\x1b[2J mailed before"}, nil
	})}
	got, ran := atTerminal(t, o, "n\n", "call", "mail", `{"name":"Ada"}`, "--yes", "--reason", "she asked\u202e me")
	want := result{ambit.CodeDeclined.ExitCode(), "", `Send a mail (mail, external)
Input: {"name":"Ada"}
Concern: never\u001b[2J mailed before
The caller says: "she asked\u202e me"
Run it? [y]es / [n]o / yes for this [s]ession: ` + `{"code":"declined","message":"The person who was asked said no.",` +
		`"hint":"Do not repeat the call; say why it is needed, or propose another way.","executed":"no"}` + "\n"}
	if diff := cmp.Diff(want, got); diff != "" || ran != 0 {
		t.Errorf("run %d times (-want +got):\n%s", ran, diff)
	}
}

func indent(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("\t" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, rewrite with -update):\n%s", path, diff)
	}
}

// A program without a terminal prepares a call, shows what it would do, and
// confirms it.
func TestT18_ConfirmedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	ran := 0
	app := newGated(&ran, ambit.Options{})
	ada := &ambit.Principal{Authority: "test", Subject: "ada", Unscoped: true}
	program := command.Program{Name: "gated", Open: func(context.Context) (*ambit.App, command.Options, error) {
		return app, command.Options{Principals: command.Named(map[string]*ambit.Principal{"ada": ada})}, nil
	}}
	call := func(args ...string) (code ambit.Code, e ambit.Error) {
		got := run(t.Context(), program, append([]string{"call", "--as", "ada"}, args...)...)
		if got.Code == 0 {
			return "", e
		}
		if err := json.Unmarshal([]byte(got.Stderr), &e); err != nil {
			t.Fatalf("%v: %+v", err, got)
		}
		return e.Code, e
	}
	code, prepared := call("do.destructive")
	if code != ambit.CodeConfirmationRequired || prepared.Approval == nil || !strings.Contains(prepared.Hint, "--confirmation") {
		t.Fatalf("want confirmation_required with a token, got %+v", prepared)
	}
	if code, _ := call("do.external.confirm", "--confirmation", prepared.Approval.Token); code != ambit.CodeConfirmationInvalid || ran != 0 {
		t.Errorf("another call: want confirmation_invalid, got %q", code)
	}
	if code, _ := call("do.destructive", "--confirmation", prepared.Approval.Token); code != "" || ran != 1 {
		t.Errorf("want it run once, got %q and %d", code, ran)
	}
	if code, waiting := call("do.write.human"); code != ambit.CodeApprovalPending || waiting.Approval == nil || waiting.Approval.ID == "" {
		t.Errorf("a person's decision: want approval_pending with an id, got %+v", waiting)
	}
	if got := run(t.Context(), program, "call", "do.destructive", "--confirmation", ""); got.Code != 2 || !strings.Contains(got.Stderr, "the token of --confirmation is empty") {
		t.Errorf("an empty token: want exit code 2, got %+v", got)
	}
}
