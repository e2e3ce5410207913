package command_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
)

// A program that speaks MCP on nobody's behalf says which of its tools nobody can
// call.
func TestMCPOnNobodysBehalf(t *testing.T) {
	t.Parallel()
	alice := command.Named(map[string]*ambit.Principal{"alice": {Authority: "login", Subject: "alice", Unscoped: true}})
	for _, test := range []struct {
		name       string
		permission string
		options    command.Options
		args       []string
		want       int
	}{
		{"nobody is named", ambit.Authenticated, command.Options{}, []string{"mcp"}, 1},
		{"nobody has to be", ambit.Public, command.Options{}, []string{"mcp"}, 0},
		{"somebody is named", "greet", command.Options{Principals: alice}, []string{"mcp", "--as", "alice"}, 0},
	} {
		var said, stdout, stderr bytes.Buffer
		aboutNobody := 0
		policy := ambit.PolicyFunc(func(_ context.Context, p *ambit.Principal, _ string) (bool, error) {
			if p.Anonymous() {
				aboutNobody++
			}
			return !p.Anonymous(), nil
		})
		app := ambit.New(ambit.Options{Name: "quiet", Policy: policy, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		app.Add(ambit.Define(ambit.Spec{
			Name: "greet", Description: "Greet.", Effect: ambit.Read, Permission: test.permission, Expose: ambit.MCP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		if code := command.Run(t.Context(), app, test.options, test.args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%s: want exit code 0, got %d, %s", test.name, code, stderr.String())
		}
		if got := strings.Count(said.String(), "nobody can call greet here: "); got != test.want {
			t.Errorf("%s: want the notice %d times, got it %d times in:\n%s", test.name, test.want, got, said.String())
		}
		if aboutNobody > 0 && test.want == 0 {
			t.Errorf("%s: want the application's Policy not asked about callers that there are not, got it asked %d times", test.name, aboutNobody)
		}
	}
}
