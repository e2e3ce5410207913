// Command notes keeps notes in one SQLite file and lets people, programs and
// agents use them, each as far as its permissions go.
//
//	go run ./examples/notes                     serves HTTP and MCP on 127.0.0.1:8080
//	go run ./examples/notes mcp --as editor     speaks MCP over standard input and output
//	go run ./examples/notes list --as reader    lists what a caller may do
//	go run ./examples/notes call notes.search '{"query":"roadmap"}' --as reader
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
	"maps"
	"os"
	"path/filepath"
	"slices"

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

// program returns the command line. It tells the developer what the first run
// has made through notices.
func program(notices io.Writer) command.Program {
	flags := flag.NewFlagSet("notes", flag.ContinueOnError)
	database := flags.String("db", "", "`FILE` of the notes (default ambit-notes/notes.db in the user's cache folder)")
	keys := flags.String("keys", "", "`FILE` of the development keys (default keys.json beside the notes)")
	return command.Program{
		Name:  "notes",
		Flags: flags,
		Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
			return open(ctx, *database, *keys, notices)
		},
	}
}

// open opens the notes and the keys and builds the application on them.
func open(ctx context.Context, database, keys string, notices io.Writer) (*ambit.App, command.Options, error) {
	fail := func(err error) (*ambit.App, command.Options, error) { return nil, command.Options{}, err }

	if database == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fail(fmt.Errorf("there is no cache folder, say with --db where the notes are: %w", err))
		}
		database = filepath.Join(cache, "ambit-notes", "notes.db")
	}
	if keys == "" {
		keys = filepath.Join(filepath.Dir(database), "keys.json")
	}
	authenticator, made, err := apikey.Development(keys, callers(apikey.Authority))
	if err != nil {
		return fail(err)
	}
	s, err := store.Open(ctx, database)
	if err != nil {
		return fail(err)
	}
	if err := announce(notices, keys, made); err != nil {
		return fail(errors.Join(err, s.Close()))
	}
	return newApp(s), command.Options{
		Serve:      serve.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{authenticator}}},
		Principals: command.Named(callers("stdio")),
		Close:      s.Close,
	}, nil
}

// callers are the two who may call, as the authority knows them.
func callers(authority string) map[string]*ambit.Principal {
	return map[string]*ambit.Principal{
		"editor": {Authority: authority, Subject: "editor", Unscoped: true, Permissions: []string{"notes:read", "notes:write", "notes:purge"}},
		"reader": {Authority: authority, Subject: "reader", Unscoped: true, Permissions: []string{"notes:read"}},
	}
}

// announce shows keys that were just made, which happens once.
func announce(w io.Writer, file string, made map[string]string) error {
	if len(made) == 0 {
		return nil
	}
	text := fmt.Sprintf("New keys, kept in %s:\n", file)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		text += fmt.Sprintf("  %-8s %s\n", name, made[name])
	}
	_, err := io.WriteString(w, text)
	return err
}

// newApp joins the contracts to the store.
func newApp(s *store.Store) *ambit.App {
	app := ambit.New(ambit.Options{
		Name:    "notes",
		Title:   "Notes",
		Version: "1.0.0",
		Instructions: "A notebook. Find notes with notes_search, read one with notes_get. " +
			"To change one, give the version that you have read.",
		Ledger: idempotency.NewMemory(idempotency.Options{}),
	})
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
