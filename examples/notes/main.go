// Command notes keeps notes in a database and lets people, programs and agents
// use them, each as far as its permissions go.
//
//	go run ./examples/notes                     serves HTTP and MCP on 127.0.0.1:8080
//	go run ./examples/notes mcp --as editor     speaks MCP over standard input and output
//	go run ./examples/notes list --as reader    lists what a caller may do
//	go run ./examples/notes call notes.search '{"query":"roadmap"}' --as reader
//	go run ./examples/notes key list            lists the API keys
//	go run ./examples/notes approvals list --as owner
//	go run ./examples/notes audit tail --as owner
//	go run ./examples/notes halt agents         stops what agents call
//
// The first run makes a SQLite file, some notes in it, and a key for each of three
// callers: the editor, who may change notes, the owner, who may see the audit
// record besides, and the reader.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/examples/notes/store"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func main() {
	slog.SetLogLoggerLevel(slog.LevelWarn) // a decision says on the terminal what came of it; servers say more
	program(os.Stderr).Main()
}

// program returns the command line. It tells the developer what the first run
// has made through notices.
func program(notices io.Writer) command.Program {
	var f flags
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.StringVar(&f.database, "db", "", "`FILE` of the notes (default ambit-notes/notes.db in the user's cache folder)")
	set.StringVar(&f.databaseURL, "database-url", "", "`URL` of a PostgreSQL database to keep the notes in, instead of the file")
	set.StringVar(&f.publicURL, "public-url", "", "`URL` at which callers and browsers reach the notes (default http://127.0.0.1:8080)")
	set.StringVar(&f.approvalsURL, "approvals-url", "", "`URL` at which people decide, where another process serves that page (default: the public URL)")
	set.StringVar(&f.issuer, "oauth-issuer", "", "`URL` of an authorization server: take its access tokens, too")
	set.StringVar(&f.audience, "oauth-audience", "", "`AUDIENCE` that access tokens are for (default: the URL of the API or of MCP)")
	set.StringVar(&f.agents, "agents", "", "`FILE` of agents: take calls that one of them has signed, and no others")
	return command.Program{
		Name:  name,
		Flags: set,
		Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
			return open(ctx, f, notices)
		},
	}
}

// openStore opens the database of the notes.
func openStore(ctx context.Context, f flags) (*store.Store, error) {
	if f.databaseURL != "" {
		return store.OpenPostgres(ctx, f.databaseURL)
	}
	return store.Open(ctx, f.database)
}

// open opens the database and builds the application on it.
func open(ctx context.Context, f flags, notices io.Writer) (_ *ambit.App, options command.Options, err error) {
	var opened closers
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.close())
		}
	}()
	if f.database == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, options, fmt.Errorf("there is no cache folder, say with --db where the notes are: %w", err)
		}
		f.database = filepath.Join(cache, "ambit-notes", "notes.db")
	}
	s, err := openStore(ctx, f)
	if err != nil {
		return nil, options, err
	}
	opened.add(s.Close)
	ring, err := openRing(f.beside("keyring"))
	if err != nil {
		return nil, options, err
	}
	review, err := openReviewKeys()
	if err != nil {
		return nil, options, err
	}
	log, approvals, err := newApprovals(f, s, ring)
	if err != nil {
		return nil, options, err
	}
	opened.add(log.Close)
	opened.add(func() error { return approvals.Close(context.WithoutCancel(ctx)) })
	kept := s.Kept()
	if err := firstKeys(ctx, kept.Keys, notices); err != nil {
		return nil, options, err
	}
	holders := apikey.FromStore(kept.Keys)
	who := trust.Options{Authenticators: []trust.Authenticator{holders}, PublicURL: f.publicURL}
	o := ambit.Options{Keys: ring, ReviewKeys: review, Approver: approvals, Resolve: holders.Resolve}
	if f.issuer != "" {
		tokens, err := newTokens(f, kept.Replays)
		if err != nil {
			return nil, options, err
		}
		opened.add(func() error { tokens.Close(); return nil })
		who.Authenticators = append(who.Authenticators, tokens)
	}
	if f.agents != "" {
		agents, err := newAgents(f, kept.Nonces)
		if err != nil {
			return nil, options, err
		}
		opened.add(agents.Close)
		who.Agents, o.AgentPolicy = agents, ambit.RequireAgentRequest
	}
	app := newApp(s, o)
	options = command.Options{
		Serve:      serve.Options{Trust: who},
		Principals: holders.Principal,
		Keys:       kept.Keys,
		Audit:      log,
		Approvals:  approvals,
		Halts:      kept.Halts,
		Close:      opened.close,
	}
	mountPage(&options.Serve, f, app, approvals, holders, notices)
	return app, options, nil
}
