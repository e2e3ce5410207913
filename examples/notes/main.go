// Command notes keeps notes in one SQLite file and lets people, programs and
// agents use them, each as far as its permissions go.
//
//	go run ./examples/notes                     serves HTTP and MCP on 127.0.0.1:8080
//	go run ./examples/notes mcp --as editor     speaks MCP over standard input and output
//	go run ./examples/notes list --as reader    lists what a caller may do
//	go run ./examples/notes call notes.search '{"query":"roadmap"}' --as reader
//	go run ./examples/notes key list            lists the API keys
//
// The first run makes the file, some notes in it, and a key for each of two
// callers: the editor, who may do everything, and the reader, who may read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

func main() { program(os.Stderr).Main() }

// flags are what the command line says.
type flags struct {
	database, keys              string
	publicURL, issuer, audience string
	agents                      string
}

// program returns the command line. It tells the developer what the first run
// has made through notices.
func program(notices io.Writer) command.Program {
	var f flags
	set := flag.NewFlagSet("notes", flag.ContinueOnError)
	set.StringVar(&f.database, "db", "", "`FILE` of the notes (default ambit-notes/notes.db in the user's cache folder)")
	set.StringVar(&f.keys, "keys", "", "`FILE` of the API keys (default api-keys.json beside the notes)")
	set.StringVar(&f.publicURL, "public-url", "", "`URL` at which callers reach the notes (default: the one that they use; for access tokens http://127.0.0.1:8080)")
	set.StringVar(&f.issuer, "oauth-issuer", "", "`URL` of an authorization server: take its access tokens, too")
	set.StringVar(&f.audience, "oauth-audience", "", "`AUDIENCE` that access tokens are for (default: the URL of the API or of MCP)")
	set.StringVar(&f.agents, "agents", "", "`FILE` of agents: take calls that one of them has signed, and no others")
	return command.Program{
		Name:  "notes",
		Flags: set,
		Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
			return open(ctx, f, notices)
		},
	}
}

// open opens the notes and the keys and builds the application on them.
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
	if f.keys == "" {
		f.keys = filepath.Join(filepath.Dir(f.database), "api-keys.json")
	}
	s, err := store.Open(ctx, f.database)
	if err != nil {
		return nil, options, err
	}
	opened.add(s.Close)
	keys, err := apikey.OpenFile(f.keys)
	if err != nil {
		return nil, options, err
	}
	if err := firstKeys(ctx, keys, notices); err != nil {
		return nil, options, err
	}
	holders := apikey.FromStore(keys)
	who := trust.Options{Authenticators: []trust.Authenticator{holders}, PublicURL: f.publicURL}
	o := ambit.Options{Resolve: holders.Resolve}
	if f.issuer != "" {
		tokens, err := newTokens(f)
		if err != nil {
			return nil, options, err
		}
		opened.add(func() error { tokens.Close(); return nil })
		who.Authenticators = append(who.Authenticators, tokens)
	}
	if f.agents != "" {
		agents, err := newAgents(f)
		if err != nil {
			return nil, options, err
		}
		opened.add(agents.Close)
		who.Agents, o.AgentPolicy = agents, ambit.RequireAgentRequest
	}
	return newApp(s, o), command.Options{
		Serve:      serve.Options{Trust: who},
		Principals: holders.Principal,
		Keys:       keys,
		Close:      opened.close,
	}, nil
}

// newApp joins the contracts to the store.
func newApp(s *store.Store, o ambit.Options) *ambit.App {
	o.Name, o.Title, o.Version = "notes", "Notes", "1.0.0"
	o.Instructions = "A notebook. Find notes with notes_search, read one with notes_get. " +
		"To change one, give the version that you have read."
	o.ImpliedScopes = scopes()
	o.Ledger = idempotency.NewMemory(idempotency.Options{})
	app := ambit.New(o)
	app.Add(
		notes.Search.Bind(s.Search),
		notes.Get.Bind(s.Get),
		notes.Create.Bind(s.Create),
		notes.Update.Bind(s.Update),
		notes.Tag.Bind(s.Tag),
		notes.Import.Bind(s.Import),
		notes.Export.Bind(s.Export),
		notes.Purge.Bind(s.Purge),
	)
	return app
}
