// Command approvals is a whole program in which a call waits for a person: keys,
// store, approvals, their page, and the command line. It clears a shelf.
//
//	export AMBIT_KEYS=$(openssl rand 32 | basenc --base64url | tr -d '=\n')
//	go run ./examples/approvals key create robot --kind agent --permission shelf:clear
//	go run ./examples/approvals key create ann --permission approvals:decide
//	go run ./examples/approvals
//
// The agent's calls of shelf.clear wait until ann has decided, at
// http://127.0.0.1:8080/approvals or by "approvals approve ID --as ann". With --addr,
// give --public-url as well, the address that people use: the page is there and nowhere
// else.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

func main() {
	program().Main()
}

func program() command.Program {
	var publicURL string
	set := flag.NewFlagSet("approvals", flag.ContinueOnError)
	set.StringVar(&publicURL, "public-url", "", "`URL` at which callers and browsers reach this (default "+defaultURL+")")
	return command.Program{Name: "approvals", Flags: set, Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
		return open(ctx, publicURL)
	}}
}

// defaultURL is where this is reached that listens where it does unless told otherwise.
const defaultURL = "http://127.0.0.1:8080"

// open joins the parts. What it has opened is closed when the command is done.
func open(ctx context.Context, publicURL string) (*ambit.App, command.Options, error) {
	keys, err := ambit.ParseKeyRing(os.Getenv("AMBIT_KEYS"))
	if err != nil {
		return nil, command.Options{}, fmt.Errorf("AMBIT_KEYS: %w", err)
	}
	store, err := sqlite.Open(ctx, "shelf.db", sqlite.Options{})
	if err != nil {
		return nil, command.Options{}, err
	}
	app, options, err := build(ctx, publicURL, keys, store)
	if err != nil {
		return nil, command.Options{}, errors.Join(err, store.Close())
	}
	return app, options, nil
}

func build(ctx context.Context, publicURL string, keys *ambit.KeyRing, store *sqlite.Store) (*ambit.App, command.Options, error) {
	log, err := audit.New(store, audit.Options{Keys: keys, Application: "shelf", Checkpoints: audit.CheckpointFile("checkpoints")})
	if err != nil {
		return nil, command.Options{}, err
	}
	approvals, err := approval.New(store, approval.Options{Audit: log, URL: cmp.Or(publicURL, defaultURL) + pagePath})
	if err != nil {
		return nil, command.Options{}, errors.Join(err, log.Close())
	}
	holders := apikey.FromStore(store.Keys())
	app := ambit.New(ambit.Options{Name: "shelf", Keys: keys, Approver: approvals, Resolve: holders.Resolve, DestructiveOverMCP: true})
	app.Add(ambit.Define(ambit.Spec{
		Name: "shelf.clear", Title: "Clear a shelf", Description: "Takes everything off a shelf, for good.",
		Effect: ambit.Destructive, Permission: "shelf:clear", Expose: ambit.HTTP | ambit.MCP, Approval: ambit.Human,
	}, clearShelf).WithPreview(previewClear))

	people := newLogin(holders.Principal)
	page, err := approval.NewPage(app, approvals, approval.PageOptions{Login: people.who, SignIn: people.signIn})
	if err != nil {
		return nil, command.Options{}, errors.Join(err, log.Close())
	}
	return app, command.Options{
		Serve: serve.Options{
			Trust: trust.Options{Authenticators: []trust.Authenticator{holders}, PublicURL: publicURL},
			Wrap: func(next http.Handler) http.Handler {
				mux := http.NewServeMux()
				mux.Handle("/login", people)
				mux.Handle("/", page.Wrap(next))
				return mux
			},
			Ready: func(bound net.Addr) { people.announce(publicURL, bound) },
		},
		Principals: holders.Principal, Keys: store.Keys(), Audit: log, Approvals: approvals, Halts: store.Halts(),
		Close: func() error {
			return errors.Join(approvals.Close(context.WithoutCancel(ctx)), log.Close(), store.Close())
		},
	}, nil
}

type clearInput struct {
	Shelf string `json:"shelf" doc:"Which shelf" minLength:"1" maxLength:"40"`
}

type clearOutput struct {
	Cleared string `json:"cleared"`
}

// previewClear says what clearing would change. In earnest it reads what stands there.
func previewClear(_ context.Context, in clearInput) (ambit.Preview, error) {
	return ambit.Preview{Summary: "Take everything off the shelf " + in.Shelf, Version: "1"}, nil
}

// clearShelf clears what was allowed and no other version of it.
func clearShelf(ctx context.Context, in clearInput) (clearOutput, error) {
	if allowed := ambit.FromContext(ctx).Approval(); allowed.Version != "1" {
		return clearOutput{}, ambit.Errorf(ambit.CodeConflict, "The shelf is no longer what was approved.")
	}
	return clearOutput{Cleared: in.Shelf}, nil
}
