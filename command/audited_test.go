package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

// newAuditedProgram is a program that has an audit record, in which each start
// puts a few calls. Its flags spoil the record, and read it with another key ring.
func newAuditedProgram() command.Program {
	flags := flag.NewFlagSet("audited", flag.ContinueOnError)
	spoil := flags.Bool("spoil", false, "remove an entry behind the log's back")
	other := flags.Bool("other-ring", false, "read the record with another key ring")
	person := func(tenant, name string, permissions ...string) *ambit.Principal {
		return &ambit.Principal{Tenant: tenant, Authority: "stdio", Subject: name, Permissions: append(permissions, "stock:read", "stock:write"), Unscoped: true}
	}
	bot := person("acme", "bot", command.PermissionReadAudit)
	bot.Kind = ambit.KindAgent
	principals := map[string]*ambit.Principal{
		"reader": person("acme", "reader", command.PermissionReadAudit),
		"keeper": person("acme", "keeper", command.PermissionReadAudit, command.PermissionPruneAudit),
		"root":   person("", "root", command.PermissionReadAudit, command.PermissionAuditTenants),
		"clerk":  person("acme", "clerk"),
		"other":  person("bolt", "other", command.PermissionReadAudit),
		"bot":    bot,
	}
	return command.Program{
		Name:  "audited",
		Flags: flags,
		Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
			keys, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{7}, ambit.MinKey)})
			if err != nil {
				return nil, command.Options{}, err
			}
			store := memory.New()
			log, err := audit.New(store, audit.Options{
				Keys: keys, Application: "audited", Checkpoints: audit.CheckpointFile("checkpoints"), Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				return nil, command.Options{}, err
			}
			app := newAuditedStock(log)
			fill(ctx, app, principals["clerk"])
			fill(ctx, app, principals["other"])
			err = log.Flush(ctx)
			if *spoil {
				err = errors.Join(err, takeOut(ctx, store))
			}
			options := command.Options{Principals: command.Named(principals), Audit: log, Close: log.Close}
			if err == nil && *other {
				keys, err = ambit.ParseKeyRing(ambit.NewKey())
				if err == nil {
					options.Audit, err = audit.New(store, audit.Options{Keys: keys, Application: "audited", Logger: slog.New(slog.DiscardHandler)})
					options.Close = func() error { return errors.Join(log.Close(), options.Audit.Close()) }
				}
			}
			return app, options, err
		},
	}
}

func newAuditedStock(log *audit.Log) *ambit.App {
	app := ambit.New(ambit.Options{Name: "audited", Ledger: log, Logger: slog.New(slog.DiscardHandler)})
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Execute} {
		app.Add(ambit.Define(ambit.Spec{
			Name: "item." + effect.String(), Description: "Do something.", Effect: effect, Permission: "stock:read", RecordInput: true,
		}, func(_ context.Context, in stockInput) (stockOutput, error) { return stockOutput{Name: in.Name}, nil }))
	}
	return app
}

// fill makes a few calls.
func fill(ctx context.Context, app *ambit.App, p *ambit.Principal) {
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: p, Mode: ambit.ModeAuto})
	defer run.End()
	for _, request := range []ambit.Request{
		{Name: "item.execute", Input: []byte(`{"name":"rope"}`), Reason: "to climb \u202e"},
		{Name: "item.read", Input: []byte(`{"name":"rope"}`)},
		{Name: "item.read", Input: []byte(`{"name":""}`)},
	} {
		_, _ = run.Invoke(ctx, request)
	}
}

// takeOut removes the second entry of acme, as somebody does who can write to the
// store: with a cut that nobody has signed.
func takeOut(ctx context.Context, store *memory.Store) error {
	page, _, err := store.Entries(ctx, audit.Query{Tenant: "acme", Limit: 2})
	if err != nil || len(page) < 2 {
		return fmt.Errorf("%d entries: %w", len(page), err)
	}
	return store.Prune(ctx, audit.Cut{Tenant: "acme", Writer: page[1].Writer, Seq: page[1].Seq, MAC: page[1].MAC})
}

// Whoever verifies with the wrong keys is told that first.
func TestT24_VerifyWithTheWrongRing(t *testing.T) {
	t.Chdir(t.TempDir())
	var stdout, stderr bytes.Buffer
	code := newAuditedProgram().Run(t.Context(), []string{"audit", "verify", "--as", "reader", "--other-ring"}, strings.NewReader(""), &stdout, &stderr)
	const hint = `"hint":"No key of the ring fits any entry, cut or checkpoint: is this the right key ring? If it is, all of it was written anew."`
	first, _, _ := strings.Cut(stdout.String(), `"findings"`)
	if code != ambit.CodeConflict.ExitCode() || !strings.Contains(first, hint) || !strings.Contains(stderr.String(), hint) {
		t.Errorf("want the hint in front of the findings and with the failure, got %d, %s, %s", code, stdout.String(), stderr.String())
	}
}

// The record is for persons who hold the permission, and ends at their tenant.
func TestT22_WhoReadsTheRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		as, tenant string
		want       ambit.Code
	}{
		{"reader", "", ""},
		{"reader", "acme", ""},
		{"reader", "bolt", ambit.CodeForbidden},
		{"clerk", "", ambit.CodeForbidden},
		{"bot", "", ambit.CodeNotFound},
		{"", "", ambit.CodeUnauthenticated},
		{"root", "bolt", ""},
	} {
		for _, name := range []string{"tail", "search", "export", "verify"} {
			args := []string{"audit", name}
			if test.as != "" {
				args = append(args, "--as", test.as)
			}
			if test.tenant != "" {
				args = append(args, "--tenant", test.tenant)
			}
			ctx, stop := context.WithCancel(t.Context())
			stdout := &stopper{lines: 1, stop: func() {}}
			if name == "tail" {
				stdout.stop = stop
			}
			var stderr bytes.Buffer
			code := newAuditedProgram().Run(ctx, args, strings.NewReader(""), stdout, &stderr)
			stop()
			if err := os.RemoveAll("checkpoints"); err != nil { // each program has a record of its own
				t.Fatal(err)
			}
			want := 0
			if test.want != "" {
				want = test.want.ExitCode()
			}
			if code != want || (stdout.Len() > 0) != (test.want == "") || !strings.Contains(stderr.String(), string(test.want)) {
				t.Errorf("%v: want %q, got %d, %q, %q", args, test.want, code, stdout.String(), stderr.String())
			}
		}
	}
}

// Entries are removed once a person has seen which, and said so.
func TestT12_PruneAsksAPerson(t *testing.T) {
	t.Chdir(t.TempDir())
	const question = "That you are keeper is taken at its word: this program asks for no proof.\nRemove all entries of tenant \"acme\" before 2100-01-01T00:00:00Z, for ever? [y]es / [n]o: "
	for _, test := range []struct {
		name, typed string
		want        result
	}{
		{"yes", "y\n", result{0, "{\"removed\":4}\n", question}},
		{"no", "n\n", result{ambit.CodeDeclined.ExitCode(), "", question + `{"code":"declined","message":"The person who was asked said no.","hint":"Nothing was removed."}` + "\n"}},
	} {
		screen := newTerminal("")
		var stdout bytes.Buffer
		code := newAuditedProgram().Run(t.Context(), []string{"audit", "prune", "--as", "keeper", "--before", "2100-01-01"}, newTerminal(test.typed), &stdout, screen)
		if diff := cmp.Diff(test.want, result{code, stdout.String(), screen.String()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// stopper ends a command when enough was written.
type stopper struct {
	bytes.Buffer
	lines int
	stop  func()
}

func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.Buffer.Write(p)
	if strings.Count(s.String(), "\n") >= s.lines {
		s.stop()
	}
	return n, err
}

// Tail writes the newest entries and ends well when it is interrupted.
func TestTailEndsWhenInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	stdout := &stopper{lines: 2, stop: stop}
	var stderr bytes.Buffer
	code := newAuditedProgram().Run(ctx, []string{"audit", "tail", "--as", "reader", "-n", "2"}, strings.NewReader(""), stdout, &stderr)
	if code != 0 || stderr.Len() > 0 || strings.Count(stdout.String(), "\n") != 2 {
		t.Errorf("want two lines and no error, got %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

// proved is the program where a person has to show who they are.
func proved() command.Program {
	p := newAuditedProgram()
	open := p.Open
	p.Open = func(ctx context.Context) (*ambit.App, command.Options, error) {
		app, options, err := open(ctx)
		options.Prove = codeOf
		return app, options, err
	}
	return p
}

// Where the application asks for proof, nobody sees an entry or removes one without
// it. What shows none can run where nobody is.
func TestT22_ReadersProveWhoTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(line string, args ...string) result {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		stdout, screen := &stopper{lines: 1, stop: func() {}}, newTerminal("")
		if args[0] == "tail" {
			stdout.stop = stop
		}
		code := proved().Run(ctx, append([]string{"audit"}, args...), newTerminal(line), stdout, screen)
		if err := os.RemoveAll("checkpoints"); err != nil { // each program has a record of its own
			t.Fatal(err)
		}
		return result{code, stdout.String(), screen.String()}
	}
	for _, args := range [][]string{{"tail"}, {"search"}, {"export"}, {"prune", "--before", "2100-01-01"}} {
		args = append(args, "--as", "keeper")
		want := result{3, "", `Code of keeper: {"code":"forbidden","message":"The code is not right."}` + "\n"}
		if diff := cmp.Diff(want, run("guess\ny\n", args...)); diff != "" {
			t.Errorf("%v with a wrong code (-want +got):\n%s", args, diff)
		}
		if got := run("code of keeper\ny\n", args...); got.Code != 0 || got.Stdout == "" || !strings.HasPrefix(got.Stderr, "Code of keeper: ") || strings.Contains(got.Stderr, "taken at its word") {
			t.Errorf("%v with the right code: got %+v", args, got)
		}
		var stdout, stderr bytes.Buffer
		code := proved().Run(t.Context(), append([]string{"audit"}, args...), strings.NewReader("code of keeper\ny\n"), &stdout, &stderr)
		if code != ambit.CodeDeclined.ExitCode() || stdout.Len() > 0 || !strings.Contains(stderr.String(), "there is no terminal to ask on") {
			t.Errorf("%v without a terminal: got %d, %q, %q", args, code, stdout.String(), stderr.String())
		}
		if err := os.RemoveAll("checkpoints"); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := proved().Run(t.Context(), []string{"audit", "verify", "--as", "keeper"}, strings.NewReader(""), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), `"entries":4`) {
		t.Errorf("verify where nobody is: got %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

// A filter that no entry can pass is a mistake, and not that nothing has happened.
func TestFiltersOfEntries(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ flag, value, want string }{
		{"--kind", "decison", `--kind: \"decison\" is no kind of entry, which are call, refusal, intent, outcome, proposal, decision, consent, grant, gap, prune.`},
		{"--principal", "keeper", `--principal: \"keeper\" is no key of a principal such as 0:/6:apikey/robot, which whoami writes.`},
		{"--since", "yesterday", `--since: \"yesterday\" is no time`},
	} {
		screen := newTerminal("code of keeper\n")
		code := proved().Run(t.Context(), []string{"audit", "search", "--as", "keeper", test.flag, test.value}, screen, io.Discard, screen)
		if code != 2 || !strings.Contains(screen.String(), test.want) {
			t.Errorf("%s %s: want exit code 2 and %s, got %d and %s", test.flag, test.value, test.want, code, screen.String())
		}
		if err := os.RemoveAll("checkpoints"); err != nil {
			t.Fatal(err)
		}
	}
}
