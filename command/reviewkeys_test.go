package command_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// A program that has only the half of a review key that seals says so before it
// looks at anything, to a person at a terminal too.
func TestT24_ProgramsWithoutTheHalfThatOpens(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(memory.New(), approval.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	seals, opens := ambit.NewReviewKey()
	boss := &ambit.Principal{Authority: "login", Subject: "boss", Permissions: []string{"approvals:decide"}}
	program := func(half string) command.Program {
		return command.Program{Name: "counter", Open: func(context.Context) (*ambit.App, command.Options, error) {
			review, err := ambit.ParseReviewKeys(half)
			if err != nil {
				return nil, command.Options{}, err
			}
			app := ambit.New(ambit.Options{Name: "counter", Keys: ring, ReviewKeys: review, Approver: approvals, Logger: quiet})
			return app, command.Options{Approvals: approvals, Principals: command.Named(map[string]*ambit.Principal{"boss": boss})}, nil
		}}
	}
	want := `{"code":"confirmation_unavailable","message":"Nobody decides in this program: it has no key that opens proposals.","hint":"Options.ReviewKeys has no half that opens, ` +
		`so that nobody decides in this process: decide in one that has it, or give this one the half ambit_opens. of ` + seals[:20] + "….\"}\n"
	for _, args := range []string{"list", "show X", "approve X", "deny X", "revoke X", "settle X failed"} {
		var stdout bytes.Buffer
		screen := newTerminal("")
		command := append([]string{"approvals", "--as", "boss"}, strings.Fields(args)...)
		if code := program(seals).Run(t.Context(), command, newTerminal("y\n"), &stdout, screen); code != 5 {
			t.Errorf("%s: want exit code 5, got %d", args, code)
		}
		if stdout.Len() > 0 || screen.String() != want {
			t.Errorf("%s: want %q and nothing shown, got %q and %q", args, want, screen.String(), stdout.String())
		}
		screen = newTerminal("")
		if program(opens).Run(t.Context(), command, newTerminal("y\n"), &stdout, screen); strings.Contains(screen.String(), "Nobody decides") {
			t.Errorf("%s: with the half that opens: got %q", args, screen.String())
		}
	}
}
