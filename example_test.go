package ambit_test

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit"
)

type GreetInput struct {
	Name string `json:"name" doc:"Whom to greet" minLength:"1"`
}

type GreetOutput struct {
	Text string `json:"text"`
}

func greet(_ context.Context, in GreetInput) (GreetOutput, error) {
	return GreetOutput{Text: "Hello, " + in.Name}, nil
}

// A contract, its implementation and a call within the application.
func Example() {
	contract := ambit.NewContract[GreetInput, GreetOutput](ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: "people:greet", Expose: ambit.HTTP | ambit.MCP,
	})
	app := ambit.New(ambit.Options{Name: "hello", Version: "1.0.0"})
	app.Add(contract.Bind(greet))

	alice := &ambit.Principal{Authority: "example", Subject: "alice", Permissions: []string{"people:greet"}}
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
	defer run.End()
	out, err := contract.Call(ctx, GreetInput{Name: "Ada"})
	fmt.Println(out.Text, err)
	_, err = contract.Call(ctx, GreetInput{})
	fmt.Println(err)
	// Output:
	// Hello, Ada <nil>
	// invalid_input: The input is invalid: /name: must have at least 1 character, not 0
}

// What a surface does: begin a run for the caller that it has authenticated,
// and hand over the call's JSON.
func ExampleRun_Invoke() {
	app := ambit.New(ambit.Options{Name: "hello"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
	}, greet))

	anyone := &ambit.Principal{Kind: ambit.KindAnonymous}
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: anyone, Surface: ambit.HTTP})
	defer run.End()
	result, err := run.Invoke(ctx, ambit.Request{Name: "greet", Input: []byte(`{"name":"Ada"}`)})
	fmt.Println(string(result.Output), err)
	// Output:
	// {"text":"Hello, Ada"} <nil>
}

// A domain error carries a code, a sentence and facts that a caller can act on.
func ExampleErrorf() {
	err := ambit.Errorf(ambit.CodeConflict, "The note has changed since you read it.").
		WithHint("Read it again and repeat your change.").
		WithDetails(map[string]any{"version": 7})
	fmt.Println(err.Code.HTTPStatus(), err)
	// Output:
	// 409 conflict: The note has changed since you read it.
}
