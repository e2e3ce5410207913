package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
)

// result is what a command line left behind.
type result struct {
	Code           int
	Stdout, Stderr string
}

func run(ctx context.Context, p command.Program, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := p.Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

func TestProgramThatCannotWork(t *testing.T) {
	t.Parallel()
	taken := flag.NewFlagSet("taken", flag.ContinueOnError)
	taken.String("addr", "", "")
	taken.Bool("json", false, "")
	taken.String("permission", "", "")
	broken := ambit.New(ambit.Options{})
	opens := func(app *ambit.App, o command.Options, err error) func(context.Context) (*ambit.App, command.Options, error) {
		return func(context.Context) (*ambit.App, command.Options, error) { return app, o, err }
	}
	tests := []struct {
		name    string
		program command.Program
		want    result
	}{
		{
			"flags that are taken",
			command.Program{Name: "p", Flags: taken, Open: opens(newHello(), command.Options{}, nil)},
			result{1, "", "p: command: Program.Flags: --addr is a flag of a command already: choose another name\n" +
				"p: command: Program.Flags: --json is a flag of a command already: choose another name\n" +
				"p: command: Program.Flags: --permission is a flag of a command already: choose another name\n"},
		},
		{"no Open", command.Program{Name: "p"}, result{1, "", "p: command: Program.Open is missing\n"}},
		{
			"no application",
			command.Program{Name: "p", Open: opens(nil, command.Options{}, nil)},
			result{1, "", "p: command: Program.Open gave no application\n"},
		},
		{
			"an application that cannot be frozen",
			command.Program{Name: "p", Open: opens(broken, command.Options{}, nil)},
			result{1, "", "p: ambit: Options.Name is missing: give the application a name\n"},
		},
		{
			"an error of the one shape",
			command.Program{Name: "p", Open: opens(nil, command.Options{}, ambit.Errorf(ambit.CodeUnavailable, "The disk is away."))},
			result{6, "", `{"code":"unavailable","message":"The disk is away."}` + "\n"},
		},
		{
			"names that end in nothing",
			command.Program{Name: "p", Open: opens(newHello(), command.Options{
				Principals: func(context.Context, string) (*ambit.Principal, error) { return nil, nil },
			}, nil)},
			result{1, "", "p: command.Options.Principals found neither a principal nor an error for \"ada\"\n"},
		},
		{
			"names that cannot be looked up",
			command.Program{Name: "p", Open: opens(newHello(), command.Options{
				Principals: func(context.Context, string) (*ambit.Principal, error) {
					return nil, errors.New("directory\x1b[2J is away:\n\ton leave")
				},
			}, nil)},
			result{1, "", `p: directory\u001b[2J is away:` + "\np:   on leave\n"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, run(t.Context(), test.program, "list", "--as", "ada")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClose holds that the application is closed once, however the command went.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"call", "nothing"}, {"call", "greet", `{"name":"Ada"}`}, {"serve", "--addr", "nowhere"}} {
		closed := 0
		program := command.Program{Name: "p", Open: func(context.Context) (*ambit.App, command.Options, error) {
			return newHello(), command.Options{Close: func() error { closed++; return nil }}, nil
		}}
		if got := run(t.Context(), program, args...); closed != 1 {
			t.Errorf("%v: want it closed once, got %d times; %+v", args, closed, got)
		}
	}
}

// TestInterrupted holds that an interrupt cancels a call and is told from a
// failure.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	app := ambit.New(ambit.Options{Name: "p", Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(ambit.Spec{
		Name: "wait", Description: "Wait.", Effect: ambit.Write, Permission: ambit.Public,
	}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		interrupt()
		<-ctx.Done()
		return ambit.Empty{}, ctx.Err()
	}))
	got := run(ctx, command.Program{Name: "p", Open: func(context.Context) (*ambit.App, command.Options, error) {
		return app, command.Options{}, nil
	}}, "call", "wait")
	want := result{130, "", `{"code":"canceled","message":"The call was canceled.","executed":"unknown"}` + "\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// TestListPages lists more capabilities than one page holds.
func TestListPages(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "p"})
	const many = 2*ambit.DefaultPage + 1
	for i := range many {
		app.Add(ambit.Define(ambit.Spec{
			Name: "c" + strings.Repeat("i", i%50) + strings.Repeat("v", i/50), Description: "One of many.", Effect: ambit.Read, Permission: ambit.Public,
		}, greet))
	}
	got := run(t.Context(), command.Program{Name: "p", Open: func(context.Context) (*ambit.App, command.Options, error) {
		return app, command.Options{}, nil
	}}, "list", "--json")
	var listed []struct{ Name string }
	if err := json.Unmarshal([]byte(got.Stdout), &listed); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	if len(listed) != many {
		t.Errorf("want %d capabilities, got %d", many, len(listed))
	}
}
