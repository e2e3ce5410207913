package ambittest_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// newPurger is an application that deletes by somebody's word, and looks at the
// version or does not.
func newPurger(t *testing.T, looks bool, word ambit.Approval, observers ...ambit.Observer) (*ambit.App, *approval.Approvals) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{URL: "https://purger.example.com/approvals", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "purger", Approver: approvals, Keys: keys, Observers: observers, Logger: quiet})
	app.Add(ambit.Define(ambit.Spec{
		Name: "purge", Description: "Delete all.", Effect: ambit.Destructive, Permission: "purge", Expose: ambit.HTTP, Approval: word,
	}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		if looks && ambit.FromContext(ctx).Approval().Version != "7" {
			return ambit.Empty{}, ambit.Errorf(ambit.CodeConflict, "It has changed.")
		}
		return ambit.Empty{}, nil
	}).WithPreview(func(context.Context, ambit.Empty) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 3 notes", Version: "7"}, nil
	}))
	return app, approvals
}

func TestT16_VersionsAreLookedAt(t *testing.T) {
	t.Parallel()
	for _, way := range []ambittest.Way{ambittest.InProcess, ambittest.CommandLine, ambittest.HTTP} {
		app, _ := newPurger(t, true, ambit.Confirm)
		h := ambittest.New(t, app)
		purger := h.As(ambittest.User("paul", "purge")).Over(way)
		if a := purger.Confirm("purge", "{}"); a.Err != nil || string(a.Output) != "{}" {
			t.Errorf("%s: want it confirmed, got %s, %v", way, a.Output, a.Err)
		}
		h.CheckVersions()
	}
	for looks, want := range map[bool]string{
		true:  "purge has a preview, and no call of it has run with somebody's word",
		false: "purge ran by somebody's word about the version 7 and never looked which one it was",
	} {
		app, _ := newPurger(t, looks, ambit.Confirm)
		h := ambittest.New(t, app)
		if !looks {
			h.As(ambittest.User("paul", "purge")).Confirm("purge", "{}")
		}
		if said := failure(t, func(failing ambittest.T) { h.In(failing).CheckVersions() }); !strings.Contains(said, want) {
			t.Errorf("want %q, got %q", want, said)
		}
	}
}

// The approvals page freezes the application: a recorder in its options is what the
// host goes by then, and without one the test is told who froze it.
func TestVersionsBehindThePage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		observers []ambit.Observer
		want      string
	}{
		{"with a recorder", []ambit.Observer{ambit.LogObserver(slog.New(slog.DiscardHandler)), &ambittest.Recorder{}}, ""},
		{"without", nil, "which approval.NewPage, App.NewRun, App.Capabilities and serving do"},
	} {
		app, approvals := newPurger(t, true, ambit.Confirm, test.observers...)
		if _, err := approval.NewPage(app, approvals, approval.PageOptions{
			Login:  func(*http.Request) (*ambit.Principal, time.Time, error) { return nil, time.Time{}, nil },
			SignIn: func(*http.Request, string) string { return "/login" },
		}); err != nil {
			t.Fatal(err)
		}
		h := ambittest.New(t, app)
		h.As(ambittest.User("paul", "purge")).Confirm("purge", "{}").OK()
		said := failure(t, func(failing ambittest.T) { h.In(failing).CheckVersions() })
		if (test.want == "") != (said == "") || !strings.Contains(said, test.want) {
			t.Errorf("%s: want %q, got %q", test.name, test.want, said)
		}
	}
}
