package interop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ambit-dev/ambit"
	gocmp "github.com/google/go-cmp/cmp"
)

// decideTooLate is a person who comes when the time to decide is over.
func (a *asking) decideTooLate(ctx context.Context, id string) error {
	a.store.Advance(ambit.DefaultDecideWithin)
	err := a.decide(ctx, id)
	if refusal, ok := errors.AsType[*ambit.Error](err); ok && refusal.Code == ambit.CodeConflict {
		return nil
	}
	return fmt.Errorf("a late decision: want %s, got %v", ambit.CodeConflict, err)
}

// decideAndPass has the person decide and nobody make the call in time.
func (a *asking) decideAndPass(ctx context.Context, id string) error {
	err := a.decide(ctx, id)
	a.store.Advance(ambit.DefaultExecuteWithin)
	return err
}

// What was not decided in time, and what was approved and not used in time, allows
// nothing: every client is told to wait for another decision, and runs with that.
func TestT18_ClientsMissTheTime(t *testing.T) {
	t.Parallel()
	purge := call{Name: "purge", Arguments: map[string]any{"person": "approves"}}
	pending := []outcome{{IsError: true, Error: ambit.CodeApprovalPending}}
	for _, c := range clients {
		if c.curt {
			continue
		}
		for _, shows := range []bool{false, true} {
			if shows && (c.version != modern || c.name == "mcp-go") {
				continue // there is no way to ask them
			}
			t.Run(fmt.Sprintf("%s/%s/shows addresses %t", c.name, cmp.Or(c.era, "default"), shows), func(t *testing.T) {
				t.Parallel()
				a := newAsking(t, shows)
				if !shows {
					if diff := gocmp.Diff(pending, outcomes(t, c, a.target, purge)); diff != "" {
						t.Errorf("at first (-want +got):\n%s", diff)
					}
				}
				for expired, step := range []struct {
					name  string
					visit func(context.Context, string) error
					want  []outcome
				}{
					{"not decided in time", a.decideTooLate, pending},
					{"not used in time", a.decideAndPass, pending},
					{"in time", a.decide, []outcome{{Text: "deleted, run 1"}}},
				} {
					a.onVisit(step.visit)
					if !shows {
						waits := a.in(t, ambit.ProposalPending)
						if len(waits) != 1 {
							t.Fatalf("%s: want one proposal that waits, got %q", step.name, waits)
						}
						if err := step.visit(t.Context(), waits[0]); err != nil {
							t.Fatalf("%s: %v", step.name, err)
						}
					}
					if diff := gocmp.Diff(step.want, outcomes(t, c, a.target, purge)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", step.name, diff)
					}
					if got, want := len(a.in(t, ambit.ProposalExpired)), min(expired+1, 2); got != want {
						t.Errorf("%s: want %d expired, got %d", step.name, want, got)
					}
				}
			})
		}
	}
}
