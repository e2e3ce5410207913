package idempotency_test

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// Order is the input of a call that must not happen twice.
type Order struct {
	Item string `json:"item" minLength:"1"`
}

// Receipt is what comes of it.
type Receipt struct {
	Number int `json:"number"`
}

func Example() {
	place := ambit.NewContract[Order, Receipt](ambit.Spec{
		Name: "orders.place", Description: "Order something.", Effect: ambit.External, Permission: "orders:write",
	})
	orders := 0
	app := ambit.New(ambit.Options{Name: "shop", Ledger: idempotency.NewMemory(idempotency.Options{})})
	app.Add(place.Bind(func(context.Context, Order) (Receipt, error) {
		orders++
		return Receipt{Number: orders}, nil
	}))

	alice := &ambit.Principal{Authority: "example", Subject: "alice", Permissions: []string{"orders:write"}, Unscoped: true}
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
	defer run.End()

	key := ambit.WithIdempotencyKey("1f6c2a9e-5d0b-4c0e-9a53-0a2f4d1c7b88")
	first, err := place.Call(ctx, Order{Item: "tea"}, key)
	fmt.Println(first, err)
	again, err := place.Call(ctx, Order{Item: "tea"}, key) // the answer was lost, say
	fmt.Println(again, err)
	_, err = place.Call(ctx, Order{Item: "coffee"}, key)
	fmt.Println(err)
	// Output:
	// {1} <nil>
	// {1} <nil>
	// conflict: This idempotency key stands for another call.
}
