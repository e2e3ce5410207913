package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
)

type searchInput struct {
	Query string   `json:"query" doc:"Words to look for" minLength:"1" maxLength:"100"`
	Limit int      `json:"limit" minimum:"1" maximum:"100" default:"10"`
	After int64    `json:"after,omitzero"`
	Score *float64 `json:"score,omitempty"`
	Kind  string   `json:"kind,omitempty" enum:"note,task"`
	Tags  []string `json:"tags,omitempty"`
	Extra any      `json:"extra,omitempty"`
}

type searchOutput struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
	After int64  `json:"after"`
}

type textOutput struct {
	Text string `json:"text" maxLength:"20000"`
}

type strictOutput struct {
	Items []string `json:"items"`
	Count int      `json:"count" minimum:"0"`
}

// fixture is an application in which every outcome of a call has a name.
func fixture(o ambit.Options) *ambit.App {
	o.Name, o.SupportContact = "fixture", "#support"
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	app := ambit.New(o)
	app.Add(
		ambit.Define(spec("notes.search", ambit.Read, "notes:read"), func(_ context.Context, in searchInput) (searchOutput, error) {
			return searchOutput{Query: in.Query, Limit: in.Limit, After: in.After}, nil
		}),
		ambit.Define(spec("notes.create", ambit.Write, "notes:write"), func(_ context.Context, in searchInput) (textOutput, error) {
			return textOutput{Text: in.Query}, nil
		}),
		ambit.Define(spec("notes.update", ambit.Write, "notes:write"), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, ambit.Errorf(ambit.CodeConflict, "The note has changed.").WithHint("Read it again.").WithDetails(map[string]any{"version": 7})
		}),
		ambit.Define(spec("notes.purge", ambit.Destructive, "notes:write"), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, errors.New("ran without being asked")
		}),
		ambit.Define(spec("greet", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (textOutput, error) {
			return textOutput{Text: "Hello, " + ambit.FromContext(ctx).Principal().Kind.String()}, nil
		}),
		ambit.Define(spec("me", ambit.Read, ambit.Authenticated), func(ctx context.Context, _ ambit.Empty) (textOutput, error) {
			call := ambit.FromContext(ctx)
			return textOutput{Text: call.Principal().Subject + " by " + call.Surface().String() + " because: " + call.Reason()}, nil
		}),
		ambit.Define(spec("raw", ambit.Read, ambit.Authenticated), func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
			return in, nil
		}),
		ambit.Define(with(spec("own", ambit.Read, ambit.Authenticated), func(s *ambit.Spec) { s.Path = "/v1.0/Own-Path" }), func(context.Context, ambit.Empty) (textOutput, error) {
			return textOutput{Text: "own path"}, nil
		}),
		ambit.Define(with(spec("large", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.MaxInput = 4 << 20 }), func(_ context.Context, in searchInput) (textOutput, error) {
			return textOutput{Text: "taken"}, nil
		}),
		ambit.Define(with(spec("small", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.MaxInput = 20 }), func(_ context.Context, in searchInput) (textOutput, error) {
			return textOutput{Text: "taken"}, nil
		}),
		ambit.Define(with(spec("scoped", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.Scopes = []string{"notes"} }), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, nil
		}),
		ambit.Define(with(spec("hidden.job", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.Expose = ambit.MCP }), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, nil
		}),

		ambit.Define(spec("broken.panic", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			panic("secret of the server")
		}),
		ambit.Define(spec("broken.plain", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, errors.New("secret of the server")
		}),
		ambit.Define(with(spec("broken.blocks", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.Deadline = time.Millisecond }), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
			<-ctx.Done()
			return ambit.Empty{}, ctx.Err()
		}),
		ambit.Define(spec("broken.nil", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (*strictOutput, error) {
			return nil, nil
		}),
		ambit.Define(spec("broken.output", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (strictOutput, error) {
			return strictOutput{Items: []string{}, Count: -1}, nil
		}),
		ambit.Define(with(spec("broken.large", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.MaxResult = 100 }), func(context.Context, ambit.Empty) (textOutput, error) {
			return textOutput{Text: strings.Repeat("a", 200)}, nil
		}),
		ambit.Define(spec("broken.limited", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			e := ambit.Errorf(ambit.CodeRateLimited, "Too many.")
			e.RetryAfter = 1200 * time.Millisecond
			return ambit.Empty{}, e
		}),
	)
	return app
}

func spec(name string, effect ambit.Effect, permission string) ambit.Spec {
	return ambit.Spec{Name: name, Description: "Tests " + name + ".", Effect: effect, Permission: permission, Expose: ambit.HTTP}
}

func with(s ambit.Spec, adjust func(*ambit.Spec)) ambit.Spec {
	adjust(&s)
	return s
}

// people knows "Authorization: Test NAME" for a few names.
type people struct{}

func (people) Name() string { return "people" }

func (people) Challenge(*http.Request) string { return `Test realm="people"` }

func (people) Authenticate(r *http.Request) (*trust.Identity, error) {
	name, mine := strings.CutPrefix(r.Header.Get("Authorization"), "Test ")
	principal := ambit.Principal{Authority: "people", Subject: name, Unscoped: true}
	switch {
	case !mine:
		return nil, nil
	case name == "editor":
		principal.Permissions = []string{"notes:read", "notes:write"}
	case name == "reader":
		principal.Permissions = []string{"notes:read"}
	case name == "scopeless":
		principal.Permissions, principal.Unscoped = []string{"notes:read"}, false
	case name != "guest":
		return nil, errors.New("no such person")
	}
	return &trust.Identity{Principal: &principal}, nil
}

func (people) Hint() string { return "Send Authorization: Test NAME." }

// withPeople are the options of an API with an authenticator.
func withPeople() httpapi.Options {
	return httpapi.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{people{}}}}
}

// openToAll are the options of an API without one.
func openToAll() httpapi.Options {
	return httpapi.Options{Trust: trust.Options{AllowUnauthenticated: true}}
}

func newAPI(t testing.TB, app *ambit.App, o httpapi.Options) http.Handler {
	t.Helper()
	api, err := httpapi.New(app, o)
	if err != nil {
		t.Fatal(err)
	}
	return api
}
