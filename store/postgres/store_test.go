package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
)

// Wrong options are told by name, before anything is connected to.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options postgres.Options
		want    string
	}{
		{postgres.Options{Prefix: "Ambit"}, "Options.Prefix"},
		{postgres.Options{Prefix: "a; DROP TABLE note; --"}, "Options.Prefix"},
		{postgres.Options{Prefix: strings.Repeat("a", 33)}, "Options.Prefix"},
		{postgres.Options{Schema: "1a"}, "Options.Schema"},
		{postgres.Options{Schema: `a"b`}, "Options.Schema"},
		{postgres.Options{Keep: -1}, "negative"},
		{postgres.Options{Outcome: -1}, "negative"},
	} {
		_, err := postgres.New(t.Context(), nil, test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: want an error about %s, got %v", test.options, test.want, err)
		}
	}
}

// An address that cannot be read is not repeated: there may be a password in it.
func TestOpen_KeepsThePassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://app:hunter2@%zz/app", postgres.Options{})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("want an error without the password, got %v", err)
	}
}

// Stores with schemas or prefixes of their own share a database and nothing else.
func TestSchemaAndPrefix(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	c := keyed()
	for _, o := range []postgres.Options{{}, {Schema: "apart"}, {Schema: "apart", Prefix: "a_"}} {
		if r, err := open(t, address, o).Claim(t.Context(), c); err != nil || r.State != ambit.RecordFree {
			t.Errorf("claim in the store of %+v: got state %d, error %v", o, r.State, err)
		}
	}
}

// With the longest names that there may be, what is stopped is told like with any.
func TestT23_HaltsUnderLongNames(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, true), postgres.Options{Schema: strings.Repeat("s", 32), Prefix: strings.Repeat("p", 32)})
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- s.Halts().Notify(ctx, func() { told <- struct{}{} }) }()
	<-told // that it listens
	all := ambit.Halt{Kind: ambit.HaltAll}
	if err := s.Halts().Halt(t.Context(), all); err != nil {
		t.Errorf("Halt: %v", err)
	} else {
		<-told
	}
	if halts, err := s.Halts().Read(t.Context()); err != nil || !slices.Contains(halts, all) {
		t.Errorf("want everything stopped, got %v, %v", halts, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Notify: want it to end with its context, got %v", err)
	}
}

// Changes of what is stopped are heard of on a connection like those of the pool: where
// its credentials change, say, the application gives them for each.
func TestT23_NotifyConnectsAsThePool(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(database(t, false))
	if err != nil {
		t.Fatal(err)
	}
	name := config.ConnConfig.Database
	config.ConnConfig.Database = "somewhere_else"
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.Database = name
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := s.Halts().Notify(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("Notify: want it to listen until its context ends, got %v", err)
	}
}

// keyed is the claim of a call with an idempotency key.
func keyed() (c ambit.Claim) {
	_, _ = rand.Read(c.Attempt[:]) // crypto/rand.Read never fails (Go 1.24)
	_, _ = rand.Read(c.Key[:])
	c.Binding = ambit.Binding{Principal: "0:/6:apikey/robot", Capability: "notes.create"}
	c.Lease = time.Minute
	return c
}

// An outcome joins the application's transaction: it is there with what the
// handler wrote, or not at all.
func TestT17_FinishJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	pool := connect(t, database(t, false))
	s, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "CREATE TABLE note (committed boolean)"); err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{true, false} {
		c := keyed()
		if _, err := s.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "INSERT INTO note VALUES ($1)", commit); err != nil {
			t.Fatal(err)
		}
		ctx := s.WithTx(t.Context(), tx)
		if !s.Joins(ctx) || s.Joins(t.Context()) {
			t.Errorf("Joins: want true in the transaction alone, got %t and %t outside", s.Joins(ctx), s.Joins(t.Context()))
		}
		if err := s.Finish(ctx, c, ambit.Ending{Outcome: []byte("done")}); err != nil {
			t.Fatalf("Finish: %v", err)
		}
		if r, err := s.Find(t.Context(), c); err != nil || r.State != ambit.RecordRunning {
			t.Errorf("before the end of the transaction: want the call running, got state %d, error %v", r.State, err)
		}
		end, wantState, wantNotes := tx.Rollback, ambit.RecordRunning, 0
		if commit {
			end, wantState, wantNotes = tx.Commit, ambit.RecordFinished, 1
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		notes := 0
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM note WHERE committed = $1", commit).Scan(&notes); err != nil {
			t.Fatal(err)
		}
		r, err := s.Find(t.Context(), c)
		if err != nil || r.State != wantState || notes != wantNotes {
			t.Errorf("committed %t: want state %d and %d notes, got %d and %d, error %v", commit, wantState, wantNotes, r.State, notes, err)
		}
	}
}

// A row that is no halt stops everything, and is told.
func TestT23_MisreadHalts(t *testing.T) {
	t.Parallel()
	pool := connect(t, database(t, false))
	s, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Halts().Halt(t.Context(), ambit.Halt{Kind: ambit.HaltAgents}); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "INSERT INTO ambit_halt VALUES ('everyting', 0)"); err != nil {
		t.Fatal(err)
	}
	halts, err := s.Halts().Read(t.Context())
	misread, ok := errors.AsType[*ambit.MisreadHalts](err)
	if diff := cmp.Diff([]ambit.Halt{{Kind: ambit.HaltAgents}, {Kind: ambit.HaltAll}}, halts); !ok || len(misread.Faults) != 1 || diff != "" {
		t.Errorf("want one fault, got %v (-want +got):\n%s", err, diff)
	}
	if err := s.Halts().Resume(t.Context(), halts[:1]); err == nil {
		t.Error("Resume by somebody who has not seen that everything is stopped: want an error, got none")
	}
	if err := s.Halts().Resume(t.Context(), halts); err != nil {
		t.Error(err)
	}
	if halts, err := s.Halts().Read(t.Context()); err != nil || len(halts) > 0 {
		t.Errorf("want nothing stopped, got %v, %v", halts, err)
	}
}
