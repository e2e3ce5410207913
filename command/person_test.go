package command_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// A program that serves says in its log that its command line takes persons at
// their word, if it does.
func TestT12_ServersSayThatNobodyIsAskedForProof(t *testing.T) {
	t.Parallel()
	names := command.Named(map[string]*ambit.Principal{"boss": {Authority: "login", Subject: "boss"}})
	approvals, err := approval.New(memory.New(), approval.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	seals, opens := reviewHalves(t)
	for _, test := range []struct {
		name    string
		options command.Options
		review  *ambit.ReviewKeys
		want    int
	}{
		{"persons decide, and nobody is asked for proof", command.Options{Principals: names, Approvals: approvals}, nil, 1},
		{"with a key that opens too", command.Options{Principals: names, Approvals: approvals}, opens, 1},
		{"nobody can decide in this program", command.Options{Principals: names, Approvals: approvals}, seals, 0},
		{"they are asked for proof", command.Options{Principals: names, Approvals: approvals, Prove: codeOf}, nil, 0},
		{"there is nothing to decide", command.Options{Principals: names}, nil, 0},
		{"there are no names", command.Options{Approvals: approvals}, nil, 0},
	} {
		var said bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		test.options.Serve = serve.Options{Ready: func(net.Addr) { stop() }}
		app := ambit.New(ambit.Options{Name: "quiet", Keys: ring, ReviewKeys: test.review, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		var stdout, stderr bytes.Buffer
		if code := command.Run(ctx, app, test.options, []string{"serve", "--addr", "127.0.0.1:0"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%s: want exit code 0, got %d, %s", test.name, code, stderr.String())
		}
		stop()
		if got := strings.Count(said.String(), "whoever can start this program decides about proposals as any person that --as names, and nobody asks for proof: set command.Options.Prove"); got != test.want {
			t.Errorf("%s: want the notice %d times, got it %d times in:\n%s", test.name, test.want, got, said.String())
		}
	}
}

// What only persons have says so where the command line knows none, and where its
// developers put them, with a name and without.
func TestPersonsWithoutPrincipals(t *testing.T) {
	t.Parallel()
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	quiet, store := slog.New(slog.DiscardHandler), memory.New()
	log, err := audit.New(store, audit.Options{Keys: ring, Application: "quiet", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	approvals, err := approval.New(store, approval.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"invalid_input","message":"This is for persons, and this program's command line knows no names for them.","hint":"Its developers have to set command.Options.Principals."}` + "\n"
	for _, args := range [][]string{
		{"approvals", "list"}, {"approvals", "list", "--as", "boss"}, {"grants", "list"}, {"audit", "search"}, {"audit", "search", "--as", "boss"},
	} {
		app := ambit.New(ambit.Options{Name: "quiet", Keys: ring, Logger: quiet})
		var stdout, stderr bytes.Buffer
		code := command.Run(t.Context(), app, command.Options{Approvals: approvals, Audit: log}, args, strings.NewReader(""), &stdout, &stderr)
		if code != 2 || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%v: want exit code 2 and %s, got %d, %q, %s", args, want, code, stdout.String(), stderr.String())
		}
	}
}

// reviewHalves returns the two halves of a new review key.
func reviewHalves(t *testing.T) (seals, opens *ambit.ReviewKeys) {
	t.Helper()
	half, whole := ambit.NewReviewKey()
	for text, keys := range map[string]**ambit.ReviewKeys{half: &seals, whole: &opens} {
		parsed, err := ambit.ParseReviewKeys(text)
		if err != nil {
			t.Fatal(err)
		}
		*keys = parsed
	}
	return seals, opens
}
