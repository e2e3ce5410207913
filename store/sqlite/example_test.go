package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/sqlite"
)

// A call that is repeated with its key is answered from the file and does not run
// again, also after a restart.
func Example() {
	folder, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		log.Fatal(err)
	}

	type Input struct {
		Text string `json:"text" minLength:"1"`
	}
	type Output struct {
		Number int `json:"number"`
	}
	written := 0
	create := ambit.NewContract[Input, Output](ambit.Spec{
		Name: "notes.create", Description: "Create a note.", Effect: ambit.Write, Permission: "notes:write",
	})
	for range 2 { // two lives of the application
		store, err := sqlite.Open(context.Background(), filepath.Join(folder, "notes.db"), sqlite.Options{})
		if err != nil {
			log.Fatal(err)
		}
		app := ambit.New(ambit.Options{Name: "notes", Ledger: store, Keys: ring})
		app.Add(create.Bind(func(context.Context, Input) (Output, error) {
			written++
			return Output{Number: written}, nil
		}))
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{
			Principal: &ambit.Principal{Authority: "stdio", Subject: "ann", Permissions: []string{"notes:write"}},
		})
		out, err := create.Call(ctx, Input{Text: "hello"}, ambit.WithIdempotencyKey("5f3c9a"))
		fmt.Println(out.Number, err)
		run.End()
		if err := store.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 1 <nil>
	// 1 <nil>
}
