package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
)

// list walks all pages and returns the paths of what is listed by name. A
// challenge in place of the first page is a list of nothing.
func list(t interface{ Fatalf(string, ...any) }, api http.Handler, authorization string, limit int) map[string]string {
	paths, cursor := map[string]string{}, ""
	for {
		r := httptest.NewRequest("GET", fmt.Sprintf("http://localhost/api/?limit=%d&cursor=%s", limit, url.QueryEscape(cursor)), nil)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, r)
		if recorder.Code == http.StatusUnauthorized && cursor == "" {
			return paths
		}
		var page struct {
			OK   bool
			Data struct {
				Capabilities []struct {
					Name, Path string
					Input      json.RawMessage
				}
				NextCursor string
			}
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &page); err != nil || !page.OK || len(page.Data.Capabilities) > limit {
			t.Fatalf("page: want at most %d capabilities, got %v\n%s", limit, err, render(recorder))
		}
		for _, c := range page.Data.Capabilities {
			if paths[c.Name] != "" {
				t.Fatalf("%s is listed twice", c.Name)
			}
			paths[c.Name] = c.Path
		}
		if cursor = page.Data.NextCursor; cursor == "" {
			return paths
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	want := list(t, api, "Test editor", 100)
	for _, limit := range []int{1, 2, 3, 7} {
		if diff := cmp.Diff(want, list(t, api, "Test editor", limit)); diff != "" {
			t.Errorf("pages of %d (-one page +many):\n%s", limit, diff)
		}
	}
	if want["own"] != "/api/v1.0/Own-Path" || want["notes.search"] != "/api/notes/search" {
		t.Errorf("paths: got %v", want)
	}
}

// TestT08_CursorOfAnother: a cursor is good for the one it was given to.
func TestT08_CursorOfAnother(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	first := answer(t, api, []byte("GET /api/?limit=1\nAuthorization: Test editor\n"))
	_, rest, ok := strings.Cut(first, `"nextCursor":"`)
	cursor, _, _ := strings.Cut(rest, `"`)
	if !ok || cursor == "" {
		t.Fatalf("no cursor in\n%s", first)
	}
	for who, want := range map[string]string{"editor": "200", "guest": "400"} {
		got := answer(t, api, []byte("GET /api/?cursor="+cursor+"\nAuthorization: Test "+who+"\n"))
		if !strings.HasPrefix(got, want) {
			t.Errorf("cursor of the editor, sent by the %s: want %s, got\n%s", who, want, got)
		}
	}
}

// TestListedIsCallable: for any application, policy and caller, what is listed
// is what can be called.
func TestListedIsCallable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		permissions := []string{ambit.Public, ambit.Authenticated, "p", "q", "r"}
		granted := rapid.SliceOfDistinct(rapid.SampledFrom(permissions[2:]), rapid.ID[string]).Draw(t, "granted")
		refusing := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c"})).Draw(t, "refused by Authorize")
		app := ambit.New(ambit.Options{
			Name: "random", Logger: slog.New(slog.DiscardHandler),
			HideForbidden: rapid.Bool().Draw(t, "hide"),
			Policy: ambit.PolicyFunc(func(_ context.Context, p *ambit.Principal, permission string) (bool, error) {
				return slices.Contains(granted, permission) != p.Anonymous(), nil
			}),
			Authorize: func(_ context.Context, c ambit.AnyContract, _ *ambit.Principal) string {
				if slices.Contains(refusing, c.Name()[:1]) {
					return "Not this one."
				}
				return ""
			},
		})
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[abc](\.[a-z]{1,3}){0,2}`), 0, 12, rapid.ID[string]).Draw(t, "names")
		paths := map[string]string{}
		for i, name := range names {
			s := ambit.Spec{
				Name: name, Description: "Random.",
				Effect:     rapid.SampledFrom([]ambit.Effect{ambit.Read, ambit.Write, ambit.Destructive}).Draw(t, "effect"),
				Permission: rapid.SampledFrom(permissions).Draw(t, "permission"),
				Expose:     rapid.SampledFrom([]ambit.Surface{0, ambit.HTTP, ambit.Schedule}).Draw(t, "expose"),
				Callers:    rapid.SampledFrom([][]ambit.Kind{nil, {ambit.KindUser}, {ambit.KindAgent, ambit.KindAnonymous}}).Draw(t, "callers"),
				Scopes:     rapid.SampledFrom([][]string{nil, {"s"}, {"s", "t"}}).Draw(t, "scopes"),
			}
			if rapid.Bool().Draw(t, "own path") {
				s.Path = fmt.Sprintf("Own/%d", i)
			}
			paths[name] = httpapi.Path("/api/", s)
			app.Add(ambit.Define(s, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		}
		caller := &ambit.Principal{
			Authority: "test", Subject: "someone",
			Kind:     rapid.SampledFrom([]ambit.Kind{ambit.KindUser, ambit.KindService, ambit.KindAgent}).Draw(t, "kind"),
			Unscoped: rapid.Bool().Draw(t, "unscoped"),
			Scopes:   rapid.SampledFrom([][]string{nil, {"s"}, {"t", "s"}}).Draw(t, "credential's scopes"),
		}
		options := httpapi.Options{Trust: trust.Options{AllowUnauthenticated: true}}
		authorization := ""
		if rapid.Bool().Draw(t, "with an authenticator") {
			options.Trust.Authenticators = []trust.Authenticator{one{caller}}
			authorization = rapid.SampledFrom([]string{"", "One"}).Draw(t, "credential")
		}
		api, err := httpapi.New(app, options)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		callable := map[string]string{}
		for name, path := range paths {
			r := httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			recorder := httptest.NewRecorder()
			api.ServeHTTP(recorder, r)
			var got struct{ Error ambit.Error }
			if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, render(recorder))
			}
			switch got.Error.Code {
			case ambit.CodeNotFound, ambit.CodeUnauthenticated, ambit.CodeForbidden, ambit.CodeInsufficientScope, ambit.CodeAgentRequired:
			default:
				callable[name] = path
			}
		}
		listed := list(t, api, authorization, rapid.IntRange(1, 5).Draw(t, "limit"))
		if diff := cmp.Diff(callable, listed); diff != "" {
			t.Fatalf("(-callable +listed):\n%s", diff)
		}
	})
}

// one takes everyone who sends an Authorization header for one caller.
type one struct{ caller *ambit.Principal }

func (one) Name() string { return "one" }

func (one) Challenge(*http.Request) string { return "One" }

func (o one) Authenticate(r *http.Request) (*trust.Identity, error) {
	if r.Header.Get("Authorization") == "" {
		return nil, nil
	}
	return &trust.Identity{Principal: o.caller}, nil
}
