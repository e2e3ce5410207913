package apikey_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// A run that has begun ends with the key that it began with, and knows no more
// than the key does now.
func TestT03_RunsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*apikey.Record)
		down   error
		want   ambit.Code
	}{
		"as it was":           {func(*apikey.Record) {}, nil, ""},
		"revoked":             {func(r *apikey.Record) { r.Revoked = time.Now() }, nil, ambit.CodeUnauthenticated},
		"expired":             {func(r *apikey.Record) { r.Expires = time.Now() }, nil, ambit.CodeUnauthenticated},
		"gone":                {func(r *apikey.Record) { r.Name = "another" }, nil, ambit.CodeUnauthenticated},
		"somebody else's now": {func(r *apikey.Record) { r.Subject = "bob" }, nil, ambit.CodeUnauthenticated},
		"allowed less":        {func(r *apikey.Record) { r.Permissions = nil }, nil, ambit.CodeForbidden},
		"nobody knows":        {func(*apikey.Record) {}, errors.New("down"), ambit.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := stored("alice", "a")
				r.Permissions = []string{"notes:read"}
				store := newFakeStore(r)
				keys := apikey.FromStore(store)
				app := ambit.New(ambit.Options{Name: "runs", Resolve: keys.Resolve})
				app.Add(ambit.Define(ambit.Spec{Name: "read", Description: "Read.", Effect: ambit.Read, Permission: "notes:read"},
					func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
				alice, err := keys.Principal(t.Context(), "alice")
				if err != nil {
					t.Fatal(err)
				}
				ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Surface: ambit.CommandLine})
				defer run.End()
				if _, err := run.Invoke(ctx, ambit.Request{Name: "read"}); err != nil {
					t.Fatalf("before: want no error, got %v", err)
				}
				store.set(func() {
					r := store.records["alice"]
					test.change(&r)
					store.records = map[string]apikey.Record{r.Name: r}
					store.err = test.down
				})
				time.Sleep(ambit.Freshness + time.Nanosecond)
				if _, err := run.Invoke(ctx, ambit.Request{Name: "read"}); ambit.CodeOf(err) != test.want {
					t.Errorf("after %v: want %q, got %v", ambit.Freshness, test.want, err)
				}
			})
		})
	}
}

// Who comes in by something else is nothing that keys know of.
func TestResolveLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	keys, err := apikey.New(apikey.Key{Name: "alice", Hash: apikey.Hash("a"), Principal: &ambit.Principal{}})
	if err != nil {
		t.Fatal(err)
	}
	alice, err := keys.Principal(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*ambit.Principal{
		alice,
		{Authority: "https://issuer.example", Subject: "alice", Claims: of("nobody")},
		{Authority: apikey.Authority, Subject: "editor"},
	} {
		got, err := keys.Resolve(t.Context(), p)
		if diff := cmp.Diff(p, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
}
