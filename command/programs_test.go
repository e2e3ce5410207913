package command_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

type greetInput struct {
	Name string `json:"name" doc:"Whom to greet" minLength:"1"`
}

type greetOutput struct {
	Text string `json:"text"`
}

func greet(_ context.Context, in greetInput) (greetOutput, error) {
	return greetOutput{Text: "Hello, " + in.Name}, nil
}

// newHello is an application in its simplest form, which knows no callers.
func newHello() *ambit.App {
	app := ambit.New(ambit.Options{Name: "hello", Version: "1.0.0", Logger: slog.New(slog.DiscardHandler)})
	app.Add(
		ambit.Define(ambit.Spec{
			Name: "greet", Description: "Greet someone by name.",
			Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
			Examples: []ambit.Example{{Title: "Ada", Input: `{"name":"Ada"}`}},
		}, greet),
		ambit.Define(ambit.Spec{
			Name: "secret.word", Description: "Tell the secret word.", Effect: ambit.Read, Permission: "secrets",
		}, func(context.Context, ambit.Empty) (string, error) { return "swordfish", nil }),
	)
	return app
}

// stockOutput has what the stock program's capabilities found.
type stockOutput struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type stockInput struct {
	Name string `json:"name" minLength:"1" maxLength:"40"`
}

// newStock is an application that knows its callers and reads flags before it is
// built.
func newStock(shelf string) *ambit.App {
	app := ambit.New(ambit.Options{Name: "stock", Logger: slog.New(slog.DiscardHandler)})
	find := func(in stockInput) (stockOutput, error) {
		switch in.Name {
		case "ghost":
			return stockOutput{}, ambit.Errorf(ambit.CodeNotFound, "There is no ghost on shelf %q.", shelf)
		case "broken":
			return stockOutput{}, errors.New("dial tcp 10.0.0.7: connection refused")
		}
		return stockOutput{Name: in.Name, Count: 3}, nil
	}
	app.Add(
		ambit.Define(ambit.Spec{
			Name: "item.find", Title: "Find an item", Description: "Find an item by its name.",
			Effect: ambit.Read, Permission: "stock:read", Expose: ambit.HTTP | ambit.MCP, Path: "items",
		}, func(_ context.Context, in stockInput) (stockOutput, error) { return find(in) }),
		ambit.Define(ambit.Spec{
			Name: "item.take", Description: "Take an item from its shelf.",
			Effect: ambit.Write, Permission: "stock:write", Expose: ambit.HTTP | ambit.MCP,
		}, func(ctx context.Context, in stockInput) (stockOutput, error) {
			call := ambit.FromContext(ctx)
			call.Progress(1, 2, "reaching")
			if call.Reason() == "" {
				return stockOutput{}, ambit.Errorf(ambit.CodeConflict, "The last one is not given away without a reason.")
			}
			return find(in)
		}),
		ambit.Define(ambit.Spec{
			Name: "item.await", Description: "Wait until an item arrives.",
			Effect: ambit.Read, Permission: "stock:read",
		}, func(ctx context.Context, _ stockInput) (stockOutput, error) {
			<-ctx.Done()
			return stockOutput{}, ctx.Err()
		}),
		ambit.Define(ambit.Spec{
			Name: "shelf.clear", Description: "Throw away everything on the shelf.",
			Effect: ambit.Destructive, Permission: "stock:write", Expose: ambit.HTTP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }),
	)
	return app
}

// newStockProgram is the program around it.
func newStockProgram() command.Program {
	flags := flag.NewFlagSet("stock", flag.ContinueOnError)
	shelf := flags.String("shelf", "A1", "`NAME` of the shelf")
	clerk := &ambit.Principal{Authority: apikey.Authority, Subject: "clerk", Permissions: []string{"stock:read", "stock:write"}, Unscoped: true}
	guest := &ambit.Principal{Authority: apikey.Authority, Subject: "guest", Permissions: []string{"stock:read"}, Unscoped: true}
	return command.Program{
		Name:  "stock",
		Flags: flags,
		Open: func(context.Context) (*ambit.App, command.Options, error) {
			if *shelf == "none" {
				return nil, command.Options{}, errors.New("shelf \"none\" is not there\nask at the counter")
			}
			options := command.Options{Principals: command.Named(map[string]*ambit.Principal{"clerk": clerk, "guest": guest})}
			if *shelf == "stuck" {
				options.HaltFile = "stuck-halt"
				options.Close = func() error { return errors.New("the shelf does not close") }
			}
			return newStock(*shelf), options, nil
		},
	}
}

// newLocked is an application with keys whose command line knows no names.
func newLocked() (*ambit.App, command.Options) {
	keys, err := apikey.New(apikey.Key{Name: "clerk", Secret: apikey.Generate(), Principal: &ambit.Principal{Subject: "clerk"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return newHello(), command.Options{Serve: serve.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{keys}}}}
}

// newKeyedProgram is a program that keeps its keys in a file, and whose command
// line works on behalf of those who hold them.
func newKeyedProgram(path string) command.Program {
	return command.Program{Name: "keyed", Open: func(context.Context) (*ambit.App, command.Options, error) {
		file, err := apikey.OpenFile(path)
		if err != nil {
			return nil, command.Options{}, err
		}
		keys := apikey.FromStore(file)
		return newStock("A1"), command.Options{
			Serve: serve.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{keys}}},
			Keys:  file, Principals: keys.Principal,
		}, nil
	}}
}
