package ambittest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

const secret = "Canary7Qx2"

type signInInput struct {
	Name     string `json:"name"`
	Password string `json:"password" secret:"true" minLength:"4"`
}

// newKeeper is an application that keeps what it is told to itself, except where
// the name says otherwise.
func newKeeper(o ambit.Options) *ambit.App {
	o.Name, o.Logger = "keeper", slog.New(ambittest.NewLog())
	logger := o.Logger.With(slog.String("part", "keeper")).WithGroup("detail")
	app := ambit.New(o)
	app.Add(ambit.Define(ambit.Spec{
		Name: "sign.in", Description: "Sign in.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
	}, func(ctx context.Context, in signInInput) (string, error) {
		switch in.Name {
		case "output":
			return in.Password, nil
		case "error":
			return "", ambit.Errorf(ambit.CodeConflict, "The password %s is taken.", in.Password)
		case "log":
			logger.Debug("signing in", slog.String("password", in.Password))
		case "progress":
			ambit.FromContext(ctx).Progress(1, 1, "checking "+in.Password)
		}
		return "Welcome", nil
	}).WithStatus(func(in signInInput) string {
		if in.Name == "question" {
			return "Signs in with " + in.Password
		}
		return ""
	}))
	return app
}

// A secret field shows up nowhere by itself, on no way in.
func TestT09_Canary(t *testing.T) {
	t.Parallel()
	answers := ambittest.Answers(t, ambit.Allow, ambit.Allow, ambit.Allow, ambit.Allow, ambit.Allow)
	monitor := ambittest.Verdicts(t, make([]ambit.Verdict, 5)...)
	h := ambittest.New(t, newKeeper(ambit.Options{Monitor: monitor, RunOptions: inMode(ambit.ModeDefault, answers)}))
	for _, way := range ambittest.Ways() {
		c := h.As(planner).Over(way)
		c.Call("sign.in", `{"name":"ada","password":"`+secret+`"}`).OK()
		c.Call("sign.in", `{"name":7,"password":"`+secret+`"}`).Refused(ambit.CodeInvalidInput)
		c.Call("sign.in", `{"name":"ada","password":{"`+"value"+`":"`+secret+`"}}`).Refused(ambit.CodeInvalidInput)
		c.Listed()
	}
	answers.CheckAsked()
	monitor.CheckShown()
	h.Canary(secret)
}

// Wherever a secret comes out, Canary finds it and names the place.
func TestT09_CanaryFinds(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, way := range []ambittest.Way{ambittest.InProcess, ambittest.HTTP, ambittest.MCP2025} {
		for _, leak := range []string{"output", "error", "log", "progress", "question"} {
			got.WriteString(leak + " over " + way.String() + "\n")
			got.WriteString(failure(t, func(failing ambittest.T) {
				answers := ambittest.Answers(t, ambit.Allow)
				h := ambittest.New(failing, newKeeper(ambit.Options{RunOptions: inMode(ambit.ModeDefault, answers)}))
				h.As(planner).Over(way).Call("sign.in", `{"name":"`+leak+`","password":"`+secret+`"}`)
				h.Canary(secret)
			}))
		}
	}
	var places []string
	for line := range strings.Lines(got.String()) {
		if place, ok := strings.CutPrefix(line, "the secret "+secret+" is in "); ok || strings.Contains(line, " over ") && !strings.Contains(line, secret) {
			places = append(places, place)
		}
	}
	ambittest.Golden(t, "testdata/canary.txt", strings.Join(places, ""), *update)
}

// An output that was given as a Go value is searched as well.
func TestT09_CanaryFindsTyped(t *testing.T) {
	t.Parallel()
	said := failure(t, func(failing ambittest.T) {
		app := ambit.New(ambit.Options{Name: "keeper", Logger: slog.New(ambittest.NewLog())})
		app.Add(hello.Bind(func(context.Context, ambit.Empty) (string, error) { return secret, nil }))
		h := ambittest.New(failing, app)
		ambittest.Call(h.As(planner), hello, ambit.Empty{})
		h.Canary(secret)
	})
	if want := "the secret " + secret + " is in the output of hello as petra over in-process:"; !strings.Contains(said, want) {
		t.Errorf("want %q, got %q", want, said)
	}
}
