package ambittest_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// t stands for the *testing.T that a test is given.
type t struct{}

func (t) Context() context.Context          { return context.Background() }
func (t) Helper()                           {}
func (t) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (t) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

type addInput struct {
	Title string `json:"title" minLength:"1"`
}

type addOutput struct {
	ID int `json:"id"`
}

// The contract is what tests call an application by.
var addNote = ambit.NewContract[addInput, addOutput](ambit.Spec{
	Name: "notes.add", Description: "Add a note.", Effect: ambit.Write, Permission: "notes:write", Expose: ambit.HTTP | ambit.MCP,
})

func newNotes() *ambit.App {
	app := ambit.New(ambit.Options{Name: "notes"})
	app.Add(addNote.Bind(func(context.Context, addInput) (addOutput, error) { return addOutput{ID: 1}, nil }))
	return app
}

func Example() {
	h := ambittest.New(t{}, newNotes())
	writer := h.As(ambittest.User("wanda", "notes:write"))
	reader := h.As(ambittest.User("rita", "notes:read"))

	// One line, on every way in.
	for _, way := range ambittest.Ways() {
		added := ambittest.Call(writer.Over(way), addNote, addInput{Title: "Milk"})
		fmt.Println(way, added.ID)
	}

	// What must not work, and why it does not.
	refused := ambittest.Refused(reader.Over(ambittest.HTTP), addNote, addInput{Title: "Milk"}, ambit.CodeForbidden)
	fmt.Println(refused.Message)
	invalid := writer.Over(ambittest.MCP).Call("notes.add", `{"titel": "Milk"}`).Refused(ambit.CodeInvalidInput)
	fmt.Println(invalid.Faults[0].Message)

	// What each is shown, and whether that is true.
	fmt.Println(writer.Over(ambittest.MCP).Listed(), reader.Over(ambittest.MCP).Listed())
	h.CheckListings(ambittest.User("wanda", "notes:write"), ambittest.User("rita", "notes:read"), ambittest.Anonymous())

	// What observers saw.
	for _, e := range h.Events()[4:6] {
		fmt.Println(e.Capability, e.Via, e.Code, e.Ran)
	}
	// Output:
	// in-process 1
	// command 1
	// http 1
	// mcp-2026-07-28 1
	// mcp-2025-11-25 1
	// You may not call this.
	// the key is not known here; did you mean "title"?
	// [notes.add] []
	// notes.add mcp  true
	// notes.add http forbidden false
}

// An application whose runs are answered for by a script, and what its gate makes
// of its capabilities.
func ExampleAnswers() {
	answers := ambittest.Answers(t{}, ambit.Allow, ambit.Deny)
	app := ambit.New(ambit.Options{
		Name: "notes", RunOptions: answers.RunOptions,
		Modes: map[ambit.Surface]ambit.Mode{ambit.MCP: ambit.ModeDefault},
	})
	app.Add(addNote.Bind(func(context.Context, addInput) (addOutput, error) { return addOutput{ID: 1}, nil }))
	h := ambittest.New(t{}, app)
	writer := h.As(ambittest.User("wanda", "notes:write")).Over(ambittest.MCP)

	ambittest.Call(writer, addNote, addInput{Title: "Milk"})
	ambittest.Refused(writer, addNote, addInput{Title: "Bread"}, ambit.CodeDeclined)
	answers.CheckAsked()
	fmt.Print(answers.Questions()[1])
	fmt.Print(h.Effects())
	// Output:
	// notes.add (notes.add, write)
	// Input: {"title":"Bread"}
	// notes.add: write
}

// A call that takes another pair of eyes: it waits, who asked cannot allow it, and it
// runs when it is made again once somebody else has said yes.
func ExampleClient_Decide() {
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		log.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "notes", Approver: approvals, Keys: keys, Logger: quiet})
	app.Add(ambit.Define(ambit.Spec{
		Name: "notes.purge", Description: "Delete all notes.", Effect: ambit.Destructive, Permission: "notes:purge", Approval: ambit.FourEyes,
	}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
		fmt.Println("purged at version", ambit.FromContext(ctx).Approval().Version)
		return ambit.Empty{}, nil
	}).WithPreview(func(context.Context, ambit.Empty) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 3 notes", Version: "7"}, nil
	}))

	h := ambittest.New(t{}, app)
	alice := h.As(ambittest.User("alice", "notes:purge", "approvals:decide"))
	bob := h.As(ambittest.User("bob", "approvals:decide"))

	waits := alice.Call("notes.purge", "").Refused(ambit.CodeApprovalPending)
	yes := approval.Ruling{ID: waits.Approval.ID, Verdict: approval.Approve}
	fmt.Println(alice.Decide(approvals, yes).Refused(ambit.CodeForbidden).Code)
	fmt.Println(bob.Decide(approvals, yes).OK())
	alice.Call("notes.purge", "").OK()
	h.CheckVersions()
	// Output:
	// forbidden
	// "approved"
	// purged at version 7
}
