package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// What cannot be undone is prepared first, and runs when its caller has seen what
// it would do and confirms that very call.
func ExampleWithConfirmation() {
	type Input struct {
		Tag string `json:"tag" minLength:"1"`
	}
	type Output struct {
		Purged int `json:"purged"`
	}
	purge := ambit.NewContract[Input, Output](ambit.Spec{
		Name: "notes.purge", Description: "Delete all notes with a tag, for good.", Effect: ambit.Destructive, Permission: "notes:purge",
	})

	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		log.Fatal(err)
	}
	approvals, err := approval.New(storage.New(), approval.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Approver: approvals})
	app.Add(purge.Bind(func(ctx context.Context, _ Input) (Output, error) {
		fmt.Println("runs, for version", ambit.FromContext(ctx).Approval().Version)
		return Output{Purged: 3}, nil
	}).WithPreview(func(context.Context, Input) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 3 notes", Version: "7"}, nil
	}))

	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{
		Principal: &ambit.Principal{Authority: "stdio", Subject: "ann", Permissions: []string{"notes:purge"}},
	})
	defer run.End()
	_, err = purge.Call(ctx, Input{Tag: "trash"})
	prepared, ok := errors.AsType[*ambit.Error](err)
	if !ok || prepared.Approval == nil {
		log.Fatal(err)
	}
	fmt.Println(prepared.Code, string(prepared.Approval.Preview))
	for range 2 { // and once more, as if the answer had been lost
		out, err := purge.Call(ctx, Input{Tag: "trash"}, ambit.WithConfirmation(prepared.Approval.Token))
		fmt.Println(out.Purged, err)
	}
	// Output:
	// confirmation_required {"summary":"Delete 3 notes","version":"7"}
	// runs, for version 7
	// 3 <nil>
	// 3 <nil>
}
