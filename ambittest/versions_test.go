package ambittest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// newPurger is an application that deletes, and looks at the version or does not.
func newPurger(t *testing.T, looks bool) *ambit.App {
	t.Helper()
	approvals, err := approval.New(memory.New(), approval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "purger", Approver: approvals, Keys: keys})
	app.Add(ambit.Define(ambit.Spec{
		Name: "purge", Description: "Delete all.", Effect: ambit.Destructive, Permission: "purge", Expose: ambit.HTTP, Approval: ambit.Confirm,
	}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		if looks && ambit.FromContext(ctx).Approval().Version != "7" {
			return ambit.Empty{}, ambit.Errorf(ambit.CodeConflict, "It has changed.")
		}
		return ambit.Empty{}, nil
	}).WithPreview(func(context.Context, ambit.Empty) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 3 notes", Version: "7"}, nil
	}))
	return app
}

func TestT16_VersionsAreLookedAt(t *testing.T) {
	t.Parallel()
	for _, way := range []ambittest.Way{ambittest.InProcess, ambittest.CommandLine, ambittest.HTTP} {
		h := ambittest.New(t, newPurger(t, true))
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
		h := ambittest.New(t, newPurger(t, looks))
		if !looks {
			h.As(ambittest.User("paul", "purge")).Confirm("purge", "{}")
		}
		if said := failure(t, func(failing ambittest.T) { h.In(failing).CheckVersions() }); !strings.Contains(said, want) {
			t.Errorf("want %q, got %q", want, said)
		}
	}
}
