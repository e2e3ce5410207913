package ambit_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/ambit-dev/ambit"
)

// A prompter for one surface: whoever calls over HTTP is asked, here by a
// function that shows the question and takes yes for the answer. Nobody can be
// asked over MCP.
func ExampleOptions_prompter() {
	// A real one shows q on a page of q.Principal's and waits for its answer.
	dialogs := ambit.PrompterFunc(func(_ context.Context, q ambit.Question) (ambit.Answer, error) {
		fmt.Print(q)
		return ambit.Allow, nil
	})
	app := ambit.New(ambit.Options{
		Name: "mail", Logger: slog.New(slog.DiscardHandler),
		Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeGuarded},
		RunOptions: func(_ context.Context, o ambit.RunOptions) ambit.RunOptions {
			if o.Surface == ambit.HTTP {
				o.Prompter = dialogs
			}
			return o
		},
	})
	app.Add(ambit.Define(ambit.Spec{
		Name: "mail.send", Title: "Send a mail", Description: "Send one mail.",
		Effect: ambit.External, Permission: ambit.Authenticated, Expose: ambit.HTTP | ambit.MCP,
	}, func(_ context.Context, in struct {
		To string `json:"to"`
	},
	) (ambit.Empty, error) {
		fmt.Println("sent to", in.To)
		return ambit.Empty{}, nil
	}))

	alice := &ambit.Principal{Authority: "example", Subject: "alice", Unscoped: true}
	send := func(surface ambit.Surface, name string) {
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice, Surface: surface})
		defer run.End()
		if _, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"to":"bob@example.com"}`)}); err != nil {
			fmt.Println(ambit.CodeOf(err))
		}
	}
	send(ambit.HTTP, "mail.send")
	send(ambit.MCP, "mail_send")
	// Output:
	// Send a mail (mail.send, external)
	// Input: {"to":"bob@example.com"}
	// sent to bob@example.com
	// confirmation_unavailable
}
