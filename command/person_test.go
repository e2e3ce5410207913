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
