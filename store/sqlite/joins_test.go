package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// What a handler writes and the outcome of its call are there together or not at
// all, with the decision of a person before it and the audit record around it.
func TestT17_OutcomeJoinsTheApplicationsTransaction(t *testing.T) {
	t.Parallel()
	db := database(t)
	store, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE purged (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	record, err := audit.New(store, audit.Options{Keys: ring, Application: "notes", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Close() })
	approvals, err := approval.New(store, approval.Options{Audit: record, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	var commit error // what the middleware's transaction ends with
	type keyed struct{}
	app := ambit.New(ambit.Options{
		Name: "notes", Keys: ring, Approver: approvals, Logger: quiet,
		Middleware: []ambit.Middleware{{Name: "transaction", Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (any, error) {
			if call.Previewing() {
				return next(ctx)
			}
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, err
			}
			defer func() { _ = tx.Rollback() }()
			out, err := next(context.WithValue(store.WithTx(ctx, tx), keyed{}, tx))
			if err = errors.Join(err, commit); err != nil {
				return nil, err
			}
			return out, tx.Commit()
		}}},
	})
	type purge struct {
		Name string `json:"name" maxLength:"20"`
	}
	app.Add(ambit.Define(ambit.Spec{
		Name: "notes.purge", Description: "Delete for good.", Effect: ambit.Destructive, Permission: "notes", Approval: ambit.Human, Expose: ambit.HTTP,
	}, func(ctx context.Context, in purge) (ambit.Empty, error) {
		_, err := ctx.Value(keyed{}).(*sql.Tx).ExecContext(ctx, "INSERT INTO purged VALUES (?)", in.Name)
		return ambit.Empty{}, err
	}))
	call := func(name string) (ambit.Code, bool) {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
			Principal: &ambit.Principal{Authority: "apikey", Subject: "robot", Permissions: []string{"notes"}}, Surface: ambit.HTTP,
		})
		defer run.End()
		result, err := run.Invoke(ctx, ambit.Request{Name: "notes.purge", Input: []byte(`{"name":"` + name + `"}`)})
		if err != nil {
			return ambit.CodeOf(err), err.(*ambit.Error).Replayed()
		}
		return "", result.Replayed
	}
	person := &ambit.Principal{Authority: "test", Subject: "carol", Permissions: []string{ambit.DefaultDecidePermission}}
	for _, test := range []struct {
		name   string
		commit error
		want   ambit.Code
		rows   int
		state  ambit.ProposalState
	}{
		{"kept", nil, "", 1, ambit.ProposalSucceeded},
		{"undone", errors.New("the disk is full"), ambit.CodeUpstream, 0, ambit.ProposalFailed},
	} {
		commit = test.commit
		if code, _ := call(test.name); code != ambit.CodeApprovalPending {
			t.Fatalf("%s: want approval_pending, got %q", test.name, code)
		}
		page, _, err := store.List(t.Context(), approval.Filter{})
		if err != nil || len(page) == 0 {
			t.Fatal(len(page), err)
		}
		id := page[0].ID
		if _, err := approvals.Decide(t.Context(), app, person, approval.Ruling{ID: id, Verdict: approval.Approve}); err != nil {
			t.Fatal(err)
		}
		for i := range 2 { // the call, and its repetition
			if code, replayed := call(test.name); code != test.want || replayed != (i == 1) {
				t.Errorf("%s, call %d: want %q, replayed %v; got %q, %v", test.name, i, test.want, i == 1, code, replayed)
			}
		}
		rows := 0
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM purged WHERE name = ?", test.name).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		r, err := store.Get(t.Context(), "", id)
		if err != nil || rows != test.rows || r.State != test.state {
			t.Errorf("%s: want %d rows and %s, got %d and %s, %v", test.name, test.rows, test.state, rows, r.State, err)
		}
	}
	if err := record.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := record.Verify(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(0, len(report.Findings)+len(report.Open)); diff != "" {
		t.Errorf("want a record without findings and without intents that never ended, got %+v", report)
	}
}
