package ambittest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

func TestCheckListings(t *testing.T) {
	t.Parallel()
	limited := ambittest.User("lisa", "plan:write")
	limited.Unscoped = false
	h := ambittest.New(t, newApp(ambit.Options{}))
	h.CheckListings(planner, limited, ambittest.Agent("robbie"), ambittest.Anonymous())
	h.Open().CheckListings(ambittest.Anonymous())
	if events := h.Events(); len(events) != 0 {
		t.Errorf("want no capability called, got %v", events)
	}
}

// TestCheckListingsFinds gives an application a policy that answers a listing
// and a call in different ways, and one that answers no listing at all.
func TestCheckListingsFinds(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	fickle := ambit.PolicyFunc(func(context.Context, *ambit.Principal, string) (bool, error) {
		return asked.Add(1)%2 == 1, nil
	})
	away := ambit.PolicyFunc(func(context.Context, *ambit.Principal, string) (bool, error) {
		return false, context.DeadlineExceeded
	})
	tests := []struct {
		name   string
		policy ambit.Policy
		want   string
	}{
		{"fickle", fickle, `the listing as petra over http (-callable +listed):`},
		{"away", away, `the listing as petra over http: want a listing, got unavailable:`},
	}
	for _, test := range tests {
		got := failure(t, func(t ambittest.T) {
			ambittest.New(t, newApp(ambit.Options{Policy: test.policy})).CheckListings(planner)
		})
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: want %q, got:\n%s", test.name, test.want, got)
		}
	}
}
