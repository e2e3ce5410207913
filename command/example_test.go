package command_test

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
)

// A program calls Main and is done. Run does the same for a test.
func ExampleRun() {
	app := ambit.New(ambit.Options{Name: "hello", Version: "1.0.0"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
	}, greet))

	args := []string{"call", "greet", `{"name":"Ada"}`}
	code := command.Run(context.Background(), app, command.Options{}, args, os.Stdin, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// {"text":"Hello, Ada"}
	// exit code 0
}

// An application that needs a flag to be built, and knows two callers.
func ExampleProgram() {
	flags := flag.NewFlagSet("hello", flag.ContinueOnError)
	greeting := flags.String("greeting", "Hello", "`WORD` to greet with")
	callers := map[string]*ambit.Principal{
		"ada": {Authority: "staff", Subject: "ada", Permissions: []string{"greet"}, Unscoped: true},
		"bob": {Authority: "staff", Subject: "bob", Unscoped: true},
	}
	program := command.Program{
		Name:  "hello",
		Flags: flags,
		Open: func(context.Context) (*ambit.App, command.Options, error) {
			app := ambit.New(ambit.Options{Name: "hello"})
			app.Add(ambit.Define(ambit.Spec{
				Name: "greet", Description: "Greet someone by name.", Effect: ambit.Read, Permission: "greet",
			}, func(_ context.Context, in greetInput) (greetOutput, error) {
				return greetOutput{Text: *greeting + ", " + in.Name}, nil
			}))
			return app, command.Options{Principals: command.Named(callers)}, nil
		},
	}
	for _, caller := range []string{"ada", "bob"} {
		args := []string{"--greeting", "Good morning", "list", "--as", caller}
		program.Run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr)
	}
	args := []string{"call", "greet", "--as", "ada", "--greeting", "Good evening", `{"name":"Bob"}`}
	program.Run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr)
	// Output:
	// NAME   EFFECT  PERMISSION  DESCRIPTION
	// greet  read    greet       Greet someone by name.
	// NAME  EFFECT  PERMISSION  DESCRIPTION
	// {"text":"Good evening, Bob"}
}
