package mcp_test

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
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

type searchInput struct {
	Query string   `json:"query" doc:"Words to look for" minLength:"1" maxLength:"100"`
	Limit int      `json:"limit" minimum:"1" maximum:"100" default:"10"`
	After int64    `json:"after,omitzero"`
	Kind  string   `json:"kind,omitempty" enum:"note,task"`
	Score *float64 `json:"score,omitempty"`
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
	o.Name, o.Version, o.SupportContact = "fixture", "1.2.3", "#support"
	o.Title, o.Instructions = "The fixture", "Search before you write."
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	app := ambit.New(o)
	app.Add(
		ambit.Define(with(spec("notes.search", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.Title, s.PublishOutput = "Search", true }),
			func(_ context.Context, in searchInput) (searchOutput, error) {
				return searchOutput{Query: in.Query, Limit: in.Limit, After: in.After}, nil
			}),
		ambit.Define(with(spec("notes.create", ambit.Write, "notes:write"), func(s *ambit.Spec) { s.Idempotent = true }),
			func(_ context.Context, in searchInput) (textOutput, error) { return textOutput{Text: in.Query}, nil }),
		ambit.Define(spec("notes.update", ambit.Write, "notes:write"), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, ambit.Errorf(ambit.CodeConflict, "The note has changed.").WithHint("Read it again.").WithDetails(map[string]any{"version": 7})
		}),
		ambit.Define(spec("notes.find", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, ambit.Errorf(ambit.CodeNotFound, "There is no such note.")
		}),
		ambit.Define(spec("jobs.start", ambit.Execute, "notes:write"), ran),
		ambit.Define(spec("mail.send", ambit.External, "notes:write"), ran),
		ambit.Define(spec("me", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (textOutput, error) {
			call := ambit.FromContext(ctx)
			return textOutput{Text: call.Principal().Subject + " by " + call.Surface().String() + " because: " + call.Reason()}, nil
		}),
		ambit.Define(with(spec("text", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.PublishOutput = true }),
			func(context.Context, ambit.Empty) (string, error) { return "plain \"text\"\n", nil }),
		ambit.Define(spec("compact", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (textOutput, error) {
			return textOutput{Text: "long"}, nil
		}).WithText(func(textOutput) string { return "short" }),
		ambit.Define(spec("show", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (textOutput, error) {
			return textOutput{Text: "data"}, nil
		}).WithContent(func(textOutput) []ambit.Content {
			return []ambit.Content{
				{Kind: ambit.ImageContent, Data: []byte{1, 2}, MIMEType: "image/png"},
				{Kind: ambit.AudioContent, Data: []byte{3}, MIMEType: "audio/wav"},
				{Kind: ambit.ResourceContent, URI: "note:1", MIMEType: "text/plain", Text: "a note"},
				{Kind: ambit.ResourceContent, URI: "note:2", MIMEType: "application/pdf", Data: []byte{4}},
			}
		}),
		ambit.Define(spec("say", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, nil
		}).WithContent(func(ambit.Empty) []ambit.Content {
			return []ambit.Content{{Kind: ambit.TextContent, Text: "said"}}
		}),
		ambit.NewRawContract(spec("raw", ambit.Read, ambit.Public), `{"type":"object"}`, `{"type":"object"}`).Bind(
			func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }),
		ambit.Define(spec("steps", ambit.Read, ambit.Public), func(ctx context.Context, _ ambit.Empty) (textOutput, error) {
			call := ambit.FromContext(ctx)
			call.Progress(1, 2, "half")
			call.Progress(1, 2, "not grown")
			call.Run().Log(slog.LevelDebug, "detail")
			call.Run().Log(slog.LevelWarn, "line\nbreak")
			call.Progress(2, 2, "")
			return textOutput{Text: "done"}, nil
		}),
		ambit.Define(with(spec("scoped", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.Scopes = []string{"notes", "more"} }), ran),
		ambit.Define(with(spec("hidden.job", ambit.Read, "notes:read"), func(s *ambit.Spec) { s.Expose = ambit.HTTP }), ran),

		ambit.Define(spec("broken.panic", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			panic("secret of the server")
		}),
		ambit.Define(spec("broken.plain", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (ambit.Empty, error) {
			return ambit.Empty{}, errors.New("secret of the server")
		}),
		ambit.Define(with(spec("broken.blocks", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.Deadline = time.Millisecond }),
			func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
				<-ctx.Done()
				return ambit.Empty{}, ctx.Err()
			}),
		ambit.Define(spec("broken.nil", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (*strictOutput, error) {
			return nil, nil
		}),
		ambit.Define(spec("broken.output", ambit.Read, ambit.Public), func(context.Context, ambit.Empty) (strictOutput, error) {
			return strictOutput{Items: []string{}, Count: -1}, nil
		}),
		ambit.Define(with(spec("broken.large", ambit.Read, ambit.Public), func(s *ambit.Spec) { s.MaxResult = 100 }),
			func(context.Context, ambit.Empty) (textOutput, error) {
				return textOutput{Text: strings.Repeat("a", 200)}, nil
			}),
	)
	return app
}

// unlimited are options under which one caller may call without pause.
func unlimited() ambit.Options {
	return ambit.Options{Limits: ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}}}
}

func ran(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }

func spec(name string, effect ambit.Effect, permission string) ambit.Spec {
	return ambit.Spec{Name: name, Description: "Tests " + name + ".", Effect: effect, Permission: permission, Expose: ambit.MCP}
}

func with(s ambit.Spec, adjust func(*ambit.Spec)) ambit.Spec {
	adjust(&s)
	return s
}

// people knows "Authorization: Test NAME" for a few names, and takes a cookie
// for a credential, which must never reach it.
type people struct{}

func (people) Name() string { return "people" }

func (people) Challenge(*http.Request) string { return `Test realm="people"` }

func (people) Authenticate(r *http.Request) (*trust.Identity, error) {
	name, mine := strings.CutPrefix(r.Header.Get("Authorization"), "Test ")
	if cookie, err := r.Cookie("session"); err == nil {
		return &trust.Identity{Principal: person(cookie.Value), Ambient: true}, nil
	}
	if !mine {
		return nil, nil
	}
	if name == "stranger" {
		return nil, errors.New("no such person")
	}
	return &trust.Identity{Principal: person(name)}, nil
}

func person(name string) *ambit.Principal {
	p := &ambit.Principal{Authority: "people", Subject: name, Unscoped: true}
	switch name {
	case "editor":
		p.Permissions = []string{"notes:read", "notes:write"}
	case "reader":
		p.Permissions = []string{"notes:read"}
	case "scopeless":
		p.Permissions, p.Unscoped = []string{"notes:read"}, false
	}
	return p
}

func (people) Hint() string { return "Send Authorization: Test NAME." }

// withPeople are the options of a server with an authenticator.
func withPeople() mcp.Options {
	return mcp.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{people{}}, Origins: []string{"https://app.example.com"}}}
}

func newServer(t testing.TB, app *ambit.App, o mcp.Options) *mcp.Server {
	t.Helper()
	server, err := mcp.New(app, o)
	if err != nil {
		t.Fatal(err)
	}
	return server
}
