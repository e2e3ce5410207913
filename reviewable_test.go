package ambit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
)

// member is what an application knows of its callers.
type member struct{ team string }

// A capability whose calls no decider could be shown as they are is found at the
// first of them, and told to the operator, once.
func TestT16_DecidersAreShownWhatCallersAre(t *testing.T) {
	t.Parallel()
	byValue := func(_ context.Context, p *ambit.Principal) string {
		if m, ok := p.Value.(*member); ok {
			return "for " + m.team
		}
		return "for nobody"
	}
	known := &ambit.Principal{Authority: "test", Subject: "alice", Permissions: []string{"write"}, Unscoped: true, Value: &member{"blue"}, Claims: map[string]any{"team": "blue"}}
	asks := 0
	for _, test := range []struct {
		name    string
		who     *ambit.Principal
		resolve func(context.Context, *ambit.Principal) (*ambit.Principal, error)
		policy  ambit.Policy
		preview func(context.Context, *ambit.Principal) string
		want    string // what deciders find, as the log has it
	}{
		{name: "by the key", preview: func(_ context.Context, p *ambit.Principal) string { return p.Key() }},
		{name: "by Value", preview: byValue, want: `"another preview"`},
		{name: "by a claim that has to be there", preview: func(_ context.Context, p *ambit.Principal) string { return p.Claims["team"].(string) }, want: "internal"},
		{name: "the policy goes by a claim", policy: ambit.PolicyFunc(func(_ context.Context, p *ambit.Principal, _ string) (bool, error) {
			return p.Claims["team"] == "blue", nil
		}), want: "forbidden"},
		{name: "by Value, which nobody has", who: writer, preview: byValue},
		{name: "by Value, which is resolved", preview: byValue, resolve: func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			p.Value = &member{"blue"}
			return p, nil
		}},
		{name: "by Value, which is resolved to something else", who: writer, preview: byValue, resolve: func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			p.Value = &member{"red"}
			return p, nil
		}, want: `"another preview"`},
		{name: "another one each time", preview: func(context.Context, *ambit.Principal) string { asks++; return fmt.Sprint(asks) }},
		{name: "nobody can be resolved at the moment", preview: byValue, resolve: func(context.Context, *ambit.Principal) (*ambit.Principal, error) {
			return nil, ambit.Errorf(ambit.CodeUnavailable, "Not now.")
		}},
	} {
		var log bytes.Buffer
		w := newWorld(func(w *world) {
			w.spec.Approval = ambit.Human
			w.options.Logger, w.options.Resolve, w.options.Policy = slog.New(slog.NewTextHandler(&log, nil)), test.resolve, test.policy
		})
		if test.preview != nil {
			w.App = newApp(w.options, ambit.Define(w.spec, w.run).WithPreview(func(ctx context.Context, _ echoInput) (ambit.Preview, error) {
				return ambit.Preview{Summary: "Change it " + test.preview(ctx, ambit.FromContext(ctx).Principal())}, nil
			}))
		}
		if test.who == nil {
			test.who = known
		}
		for range 2 {
			text, _ := w.call(test.who, ambit.HTTP, ambit.Request{})
			is(t, test.name, `"approval_pending"`, text)
		}
		warned := strings.Count(log.String(), "cannot be approved")
		switch {
		case test.want == "" && warned > 0:
			t.Errorf("%s: want no warning, got %s", test.name, &log)
		case test.want != "" && (warned != 1 || !strings.Contains(log.String(), `capability=change "deciders find"=`+test.want)):
			t.Errorf("%s: want one warning with %s, got %s", test.name, test.want, &log)
		}
	}
}
