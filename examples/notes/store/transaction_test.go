package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
)

// TestCallIsOneTransaction holds that what a handler changes, however often it
// calls the store, is kept or undone as a whole, and that the outcome of the call
// is written with it.
func TestCallIsOneTransaction(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		keys, err := ambit.ParseKeyRing(ambit.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Ledger: s.Kept().Ledger, Middleware: []ambit.Middleware{s.Transaction()}})
		joins := false
		app.Add(ambit.Define(ambit.Spec{Name: "two", Description: "Write two notes.", Effect: ambit.Write, Permission: ambit.Authenticated},
			func(ctx context.Context, in struct {
				Fail bool `json:"fail"`
			},
			) (ambit.Empty, error) {
				ledger, ok := s.Kept().Ledger.(ambit.Joiner)
				joins = ok && ledger.Joins(ctx)
				for _, title := range []string{"First", "Second"} {
					if _, err := s.Create(ctx, notes.CreateInput{Title: title}); err != nil {
						return ambit.Empty{}, err
					}
				}
				if in.Fail {
					return ambit.Empty{}, errors.New("after both")
				}
				return ambit.Empty{}, nil
			}))
		call := func(key, input string) error {
			ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "test", Subject: "alice", Unscoped: true}})
			defer run.End()
			_, err := run.Invoke(ctx, ambit.Request{Name: "two", Input: []byte(input), IdempotencyKey: key})
			return err
		}

		if err := call("one", `{"fail":true}`); err == nil {
			t.Error("want the error of the handler")
		}
		if want, got := seeded, count(t, s); want != got {
			t.Errorf("after a failure: want %d notes, got %d", want, got)
		}
		for range 2 { // the second is answered from the record
			if err := call("two", `{"fail":false}`); err != nil {
				t.Error(err)
			}
		}
		if want, got := seeded+2, count(t, s); want != got {
			t.Errorf("after one call made twice: want %d notes, got %d", want, got)
		}
		if !joins {
			t.Error("want the outcome written in the transaction of the change")
		}
	})
}

// TestPreviews holds that previews say what would change, and that their version
// tells when that has become something else.
func TestPreviews(t *testing.T) {
	t.Parallel()
	store.ForEachEngine(t, func(t *testing.T, s *store.Store) {
		purge, err := s.PreviewPurge(t.Context(), notes.PurgeInput{Tag: "trash"})
		if err != nil {
			t.Fatal(err)
		}
		if len(purge.Items) != 3 || purge.Items[0].Title != "Old meeting room bookings" || purge.Items[0].ID != "39" {
			t.Errorf("want the three notes that would go, got %+v", purge)
		}
		publish, err := s.PreviewPublish(t.Context(), notes.PublishInput{ID: 39})
		if err != nil {
			t.Fatal(err)
		}
		if len(publish.Items) != 1 || publish.Version != "1" {
			t.Errorf("want the note in its first version, got %+v", publish)
		}
		if _, err := s.Update(t.Context(), notes.UpdateInput{ID: 39, Version: 1, Title: new("Keep this")}); err != nil {
			t.Fatal(err)
		}
		if now, err := s.PreviewPurge(t.Context(), notes.PurgeInput{Tag: "trash"}); err != nil || now.Version == purge.Version {
			t.Errorf("want another version once a note has changed, got %q twice, %v", now.Version, err)
		}
		if now, err := s.PreviewPublish(t.Context(), notes.PublishInput{ID: 39}); err != nil || now.Version != "2" {
			t.Errorf("want version 2, got %q, %v", now.Version, err)
		}
	})
}
