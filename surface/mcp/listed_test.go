package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
)

// TestListedIsCallable draws applications, policies and principals, and shows
// that what is listed over MCP is what can be called: a call with {} of a listed
// tool answers none of the refusals that keep one out of the list, and a call of
// any other answers one of them.
func TestListedIsCallable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		app, names := drawApp(t)
		server, err := mcp.New(app, mcp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		session := server.NewSession(drawPrincipal(t), nil)
		listed := listTools(t, session)
		var callable []string
		for _, name := range names {
			if reaches(t, session, name) {
				callable = append(callable, name)
			}
		}
		if diff := cmp.Diff(callable, listed); diff != "" {
			t.Errorf("callable and listed (-callable +listed):\n%s", diff)
		}
	})
}

var (
	permissions = []string{"a", "b", ambit.Public, ambit.Authenticated}
	scopes      = []string{"s", "t"}
)

func drawApp(t *rapid.T) (app *ambit.App, names []string) {
	o := ambit.Options{Name: "drawn", Logger: slog.New(slog.DiscardHandler), HideForbidden: rapid.Bool().Draw(t, "hide")}
	if rapid.Bool().Draw(t, "hook") {
		o.Authorize = func(_ context.Context, c ambit.AnyContract, _ *ambit.Principal) string {
			if len(c.Spec().Scopes) == 1 {
				return "Not with one scope."
			}
			return ""
		}
	}
	app = ambit.New(o)
	for i := range rapid.IntRange(0, 12).Draw(t, "capabilities") {
		s := ambit.Spec{
			Name: fmt.Sprintf("c%02d", i), Description: "Drawn.",
			Effect:     rapid.SampledFrom([]ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External}).Draw(t, "effect"),
			Permission: rapid.SampledFrom(permissions).Draw(t, "permission"),
			Expose:     rapid.SampledFrom([]ambit.Surface{0, ambit.HTTP, ambit.MCP, ambit.HTTP | ambit.MCP}).Draw(t, "expose"),
			Scopes:     subset(t, scopes, "scopes"),
		}
		if rapid.Bool().Draw(t, "callers") {
			s.Callers = []ambit.Kind{ambit.KindUser}
		}
		app.Add(ambit.Define(s, ran))
		names = append(names, s.Name)
	}
	return app, names
}

func drawPrincipal(t *rapid.T) *ambit.Principal {
	if rapid.Bool().Draw(t, "anonymous") {
		return &ambit.Principal{Kind: ambit.KindAnonymous}
	}
	return &ambit.Principal{
		Authority: "drawn", Subject: "someone",
		Kind:        rapid.SampledFrom([]ambit.Kind{ambit.KindUser, ambit.KindAgent}).Draw(t, "kind"),
		Permissions: subset(t, permissions[:2], "held"),
		Scopes:      subset(t, scopes, "granted"),
		Unscoped:    rapid.Bool().Draw(t, "unscoped"),
	}
}

func subset(t *rapid.T, of []string, label string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(string) bool { return rapid.Bool().Draw(t, label) })
}

func listTools(t *rapid.T, session *mcp.Session) (names []string) {
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	handle(t, session, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &answer)
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func reaches(t *rapid.T, session *mcp.Session, name string) bool {
	var answer struct {
		Error  *struct{ Code int }
		Result struct {
			Meta struct {
				Error struct{ Code ambit.Code } `json:"dev.ambit/error"`
			} `json:"_meta"`
		}
	}
	handle(t, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`, &answer)
	if answer.Error != nil {
		return false
	}
	switch answer.Result.Meta.Error.Code {
	case ambit.CodeNotFound, ambit.CodeUnauthenticated, ambit.CodeForbidden, ambit.CodeInsufficientScope, ambit.CodeAgentRequired:
		return false
	}
	return true
}

func handle(t *rapid.T, session *mcp.Session, message string, into any) {
	response := session.Handle(context.Background(), []byte(message))
	if err := json.Unmarshal(response, into); err != nil {
		t.Fatalf("%v in %s", err, response)
	}
}
