package notes_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
)

// A call from Go needs the contract and a run. It passes the same checks as one
// over the network.
func Example() {
	folder, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	s, err := store.Open(context.Background(), filepath.Join(folder, "notes.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	app := ambit.New(ambit.Options{Name: "notes"})
	app.Add(notes.Search.Bind(s.Search), notes.Update.Bind(s.Update))
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: &ambit.Principal{
		Authority: "example", Subject: "alice", Unscoped: true, Permissions: []string{"notes:read"},
	}})
	defer run.End()

	found, err := notes.Search.Call(ctx, notes.SearchInput{Query: "plum cake"}) // the limit has a default
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Hits[0].Title)

	_, err = notes.Update.Call(ctx, notes.UpdateInput{ID: found.Hits[0].ID, Version: 1})
	if refused, ok := errors.AsType[*ambit.Error](err); ok {
		fmt.Println(refused.Code)
	}
	// Output:
	// Recipe: plum cake
	// forbidden
}
