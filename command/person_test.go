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
	for _, test := range []struct {
		name    string
		options command.Options
		want    bool
	}{
		{"persons decide, and nobody is asked for proof", command.Options{Principals: names, Approvals: approvals}, true},
		{"they are asked for proof", command.Options{Principals: names, Approvals: approvals, Prove: codeOf}, false},
		{"there is nothing to decide", command.Options{Principals: names}, false},
		{"there are no names", command.Options{Approvals: approvals}, false},
	} {
		var said bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		test.options.Serve = serve.Options{Ready: func(net.Addr) { stop() }}
		app := ambit.New(ambit.Options{Name: "quiet", Logger: slog.New(slog.NewTextHandler(&said, nil))})
		var stdout, stderr bytes.Buffer
		if code := command.Run(ctx, app, test.options, []string{"serve", "--addr", "127.0.0.1:0"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%s: want exit code 0, got %d, %s", test.name, code, stderr.String())
		}
		stop()
		if got := strings.Count(said.String(), "nobody asks for proof: set command.Options.Prove"); got == 1 != test.want || got > 1 {
			t.Errorf("%s: want the notice %t, got it %d times in:\n%s", test.name, test.want, got, said.String())
		}
	}
}
