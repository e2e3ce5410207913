package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/sqlite"
)

// A call whose middleware has begun a transaction: what the handler wrote and the
// outcome are committed together, and an outcome whose transaction was rolled back
// is kept by itself.
func TestT17_MiddlewareWithATransaction(t *testing.T) {
	t.Parallel()
	type txKey struct{}
	db := database(t)
	store, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE note (text TEXT)"); err != nil {
		t.Fatal(err)
	}
	var late error // instead of a commit
	transaction := ambit.Middleware{Name: "transaction", Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (any, error) {
		if call.Effect() == ambit.Read || call.Previewing() {
			return next(ctx)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		defer func() { _ = tx.Rollback() }()
		out, err := next(store.WithTx(context.WithValue(ctx, txKey{}, tx), tx))
		if err != nil || late != nil {
			return nil, errors.Join(err, late)
		}
		return out, tx.Commit()
	}}
	type note struct {
		Text string `json:"text"`
	}
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{
		Name: "notes", Keys: ring, Ledger: store, Middleware: []ambit.Middleware{transaction}, Logger: slog.New(slog.DiscardHandler),
	})
	write := ambit.NewContract[note, note](ambit.Spec{Name: "notes.write", Description: "Write a note.", Effect: ambit.Write, Permission: ambit.Authenticated})
	app.Add(write.Bind(func(ctx context.Context, in note) (note, error) {
		_, err := ctx.Value(txKey{}).(*sql.Tx).ExecContext(ctx, "INSERT INTO note VALUES (?)", in.Text)
		return in, err
	}))
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "stdio", Subject: "ann"}})
	defer run.End()
	for _, test := range []struct {
		text string
		late error
		ok   bool
		want int // notes
	}{
		{"committed", nil, true, 1},
		{"rolled back", errors.New("the disk is full"), false, 0},
	} {
		late = test.late
		for range 3 { // the first, and two repetitions
			_, err := write.Call(ctx, note{test.text}, ambit.WithIdempotencyKey(test.text))
			if (err == nil) != test.ok {
				t.Errorf("%s: want it to succeed: %t, got %v", test.text, test.ok, err)
			}
			late = nil // a repetition is answered from the record
		}
		notes := 0
		if err := db.QueryRow("SELECT count(*) FROM note WHERE text = ?", test.text).Scan(&notes); err != nil {
			t.Fatal(err)
		}
		if notes != test.want {
			t.Errorf("%s: want %d notes, got %d", test.text, test.want, notes)
		}
	}
}

// A call that a handler makes within its transaction counts in the rates that
// processes share, like any other.
func TestT25_RatesWithinATransaction(t *testing.T) {
	t.Parallel()
	db := database(t)
	store, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	take := func(ctx context.Context, want bool) {
		t.Helper()
		wait, err := store.Take(ctx, "one/notes.send/ann", ambit.Rate{Calls: 2, Per: time.Hour})
		if err != nil || (wait == 0) != want {
			t.Errorf("Take: want one there: %t, got %s to wait, error %v", want, wait, err)
		}
	}
	take(t.Context(), true)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	within := store.WithTx(t.Context(), tx)
	take(within, true)
	take(within, false)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	take(t.Context(), false)
}

// A call that a handler makes is part of the handler's transaction: the database has
// one writer, who would wait for itself otherwise.
func TestT17_CallWithinATransaction(t *testing.T) {
	t.Parallel()
	type txKey struct{}
	db := database(t)
	store, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE note (text TEXT)"); err != nil {
		t.Fatal(err)
	}
	transaction := ambit.Middleware{Name: "transaction", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
		if store.Joins(ctx) {
			return next(ctx)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		defer func() { _ = tx.Rollback() }()
		out, err := next(store.WithTx(context.WithValue(ctx, txKey{}, tx), tx))
		if err != nil {
			return nil, err
		}
		return out, tx.Commit()
	}}
	app := ambit.New(ambit.Options{Name: "notes", Ledger: store, Middleware: []ambit.Middleware{transaction}, Logger: slog.New(slog.DiscardHandler)})
	type note struct {
		Text string `json:"text"`
		Bad  bool   `json:"bad,omitempty"`
	}
	write := ambit.NewContract[note, note](ambit.Spec{Name: "notes.write", Description: "Write a note.", Effect: ambit.Write, Permission: ambit.Authenticated})
	twice := ambit.NewContract[note, note](ambit.Spec{Name: "notes.twice", Description: "Write a note twice.", Effect: ambit.Write, Permission: ambit.Authenticated})
	app.Add(write.Bind(func(ctx context.Context, in note) (note, error) {
		_, err := ctx.Value(txKey{}).(*sql.Tx).ExecContext(ctx, "INSERT INTO note VALUES (?)", in.Text)
		return in, err
	}), twice.Bind(func(ctx context.Context, in note) (note, error) {
		for range 2 {
			if _, err := write.Call(ctx, note{Text: in.Text}); err != nil {
				return note{}, err
			}
		}
		if in.Bad {
			return note{}, ambit.Errorf(ambit.CodeConflict, "That was one too many.")
		}
		return in, nil
	}))
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "stdio", Subject: "ann"}})
	defer run.End()
	for text, want := range map[string]int{"kept": 2, "undone": 0} {
		_, err := twice.Call(ctx, note{text, want == 0}, ambit.WithIdempotencyKey(text))
		notes := 0
		if err := db.QueryRow("SELECT count(*) FROM note WHERE text = ?", text).Scan(&notes); err != nil {
			t.Fatal(err)
		}
		if (err != nil) != (want == 0) || notes != want {
			t.Errorf("%s: want %d notes, got %d, %v", text, want, notes, err)
		}
	}
}
