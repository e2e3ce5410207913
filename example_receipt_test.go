package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// A password is shown once: whoever repeats the call, because the answer was lost,
// is told that it was made, and that there is no second look.
func ExampleReceipt() {
	type Input struct {
		User string `json:"user" minLength:"1"`
	}
	type Output struct {
		Password string `json:"password"`
	}
	reset := ambit.NewContract[Input, Output](ambit.Spec{
		Name: "users.reset", Description: "Give a user a new password, and show it once.", Effect: ambit.Write, Permission: "users:write",
		Replay: ambit.ReplayReceipt,
	})
	app := ambit.New(ambit.Options{Name: "users", Ledger: idempotency.NewMemory(idempotency.Options{})})
	app.Add(reset.Bind(func(context.Context, Input) (Output, error) { return Output{Password: "correct horse"}, nil }))

	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{
		Principal: &ambit.Principal{Authority: "stdio", Subject: "ann", Permissions: []string{"users:write"}},
	})
	defer run.End()
	out, err := reset.Call(ctx, Input{User: "bob"}, ambit.WithIdempotencyKey("4f1c"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Password)
	_, err = reset.Call(ctx, Input{User: "bob"}, ambit.WithIdempotencyKey("4f1c"))
	if e, ok := errors.AsType[*ambit.Error](err); ok && e.Receipt != nil {
		fmt.Println(e)
		fmt.Println("executed:", e.Executed, "succeeded:", e.Receipt.Succeeded, "same run:", e.Receipt.Run == run.ID().String())
	}
	// Output:
	// correct horse
	// conflict: The call was made, and its result is not kept.
	// executed: yes succeeded: true same run: true
}
