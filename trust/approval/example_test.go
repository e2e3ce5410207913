package approval_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// A call waits for a person, who looks at it and decides, and is made once it is
// repeated.
func Example() {
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{Logger: quiet}) // a database in earnest
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey()) // from the configuration in earnest
	if err != nil {
		fmt.Println(err)
		return
	}
	app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Approver: approvals, Logger: quiet})
	app.Add(ambit.Define(ambit.Spec{
		Name: "notes.purge", Title: "Purge a folder", Description: "Deletes the notes of a folder for good.",
		Effect: ambit.Destructive, Permission: "notes:purge", Expose: ambit.HTTP, Approval: ambit.FourEyes,
	}, func(_ context.Context, in struct {
		Folder string `json:"folder"`
	},
	) (ambit.Empty, error) {
		fmt.Println("purged", in.Folder)
		return ambit.Empty{}, nil
	}))
	alice := &ambit.Principal{Authority: "login", Subject: "alice", Permissions: []string{"notes:purge"}}
	bob := &ambit.Principal{Authority: "login", Subject: "bob", Permissions: []string{"approvals:decide"}}

	call := func() *ambit.Error {
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
		defer run.End()
		_, err := run.Invoke(ctx, ambit.Request{Name: "notes.purge", Input: []byte(`{"folder":"old"}`)})
		failure, _ := errors.AsType[*ambit.Error](err)
		return failure
	}
	waits := call()
	fmt.Println(waits.Code)

	ctx := context.Background()
	view, err := approvals.View(ctx, app, bob, waits.Approval.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(view.Review.Title, string(view.Review.Input))
	record, err := approvals.Decide(ctx, app, bob, approval.Ruling{ID: view.Record.ID, Verdict: approval.Approve, Preview: view.Seen()})
	fmt.Println(record.State, err)
	fmt.Println(call() == nil, approvals.Close(ctx))
	// Output:
	// approval_pending
	// Purge a folder {"folder":"old"}
	// approved <nil>
	// purged old
	// true <nil>
}

// A person allows the calls of a nightly job in advance: those whose input satisfies
// a schema run when they are made, any other waits.
func ExampleApprovals_Give() {
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{LongestGrant: 30 * 24 * time.Hour, Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Approver: approvals, Logger: quiet})
	purge := ambit.NewContract[struct {
		Folder string `json:"folder"`
	}, ambit.Empty](ambit.Spec{
		Name: "notes.purge", Title: "Purge a folder", Description: "Deletes the notes of a folder for good.",
		Effect: ambit.Destructive, Permission: "notes:purge", Expose: ambit.Schedule,
	})
	app.Add(purge.Bind(func(_ context.Context, in struct {
		Folder string `json:"folder"`
	},
	) (ambit.Empty, error) {
		fmt.Println("purged", in.Folder)
		return ambit.Empty{}, nil
	}))
	janitor := &ambit.Principal{Authority: "jobs", Subject: "janitor", Kind: ambit.KindService, Permissions: []string{"notes:purge"}}
	bob := &ambit.Principal{Authority: "login", Subject: "bob", Permissions: []string{"approvals:decide"}}

	ctx := context.Background()
	grant, err := approvals.Give(ctx, app, bob, approval.Grant{ // at a terminal in earnest: notes grants give
		Principal: janitor.Key(), Capability: "notes.purge", Input: []byte(`{"properties": {"folder": {"const": "trash"}}}`),
		Until: time.Now().Add(7 * 24 * time.Hour), Budget: 14, Given: approval.Decision{Reason: "the nightly clean-up"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grant.Principal, string(grant.Input))
	for _, folder := range []string{"trash", "drafts"} {
		ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: janitor, Surface: ambit.Schedule})
		_, err := purge.Call(ctx, struct {
			Folder string `json:"folder"`
		}{folder})
		run.End()
		fmt.Println(folder, "waits:", ambit.CodeOf(err) == ambit.CodeApprovalPending)
	}
	// Output:
	// 0:/4:jobs/janitor {"properties":{"folder":{"const":"trash"}}}
	// purged trash
	// trash waits: false
	// drafts waits: true
}

// The page knows who is logged in from the application, and sends whoever is not
// to its login.
func ExampleNewPage() {
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{URL: "https://notes.example.com/approvals", Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Approver: approvals, Logger: quiet})
	page, err := approval.NewPage(app, approvals, approval.PageOptions{
		Login: func(r *http.Request) (*ambit.Principal, time.Time, error) {
			session, err := r.Cookie("session") // look it up in earnest
			if err != nil {
				return nil, time.Time{}, nil
			}
			return &ambit.Principal{Authority: "login", Subject: session.Value}, time.Now(), nil
		},
		SignIn: func(_ *http.Request, back string) string { return "/login?back=" + back },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://notes.example.com/approvals/", nil))
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 303 /login?back=/approvals/
}
