package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// listTests are about pages of proposals.
func listTests() []test {
	return []test{
		{"pages go from the newest to the oldest, each record once", func(t *testing.T, b bench) {
			var want []string
			for i := range 23 {
				want = append(want, b.propose(t, b.proposal(fmt.Sprint(i))).ID)
			}
			slices.Reverse(want)
			for _, limit := range []int{1, 5, 23, 24} {
				got := b.list(t, approval.Filter{Tenant: b.tenant, Limit: limit})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
				}
			}
			page, _, err := b.Approvals.List(t.Context(), approval.Filter{Tenant: b.tenant, Limit: 3})
			if err != nil || len(page) != 3 {
				t.Fatalf("List: want 3 records, got %d, error %v", len(page), err)
			}
			full := b.get(t, page[0].ID)
			full.Proposal.Input, full.Outcome = nil, nil
			if diff := cmp.Diff(full, page[0]); diff != "" {
				t.Errorf("a listed record is one without input and outcome (-want +got):\n%s", diff)
			}
		}},
		{"a page has 50 records, or at most 200", func(t *testing.T, b bench) {
			for i := range 203 {
				b.propose(t, b.proposal(fmt.Sprint(i)))
			}
			for limit, want := range map[int]int{0: 50, 1000: 200} {
				page, next, err := b.Approvals.List(t.Context(), approval.Filter{Tenant: b.tenant, Limit: limit})
				if err != nil || len(page) != want || next == "" {
					t.Errorf("limit %d: want %d records and a cursor, got %d, %q, error %v", limit, want, len(page), next, err)
				}
			}
		}},
		{"a list is narrowed by what it is asked for, and by states of now", func(t *testing.T, b bench) {
			ids := make(map[ambit.ProposalState]string)
			for _, state := range []ambit.ProposalState{ambit.ProposalUnknown, ambit.ProposalExpired, ambit.ProposalDenied, ambit.ProposalPending, ambit.ProposalApproved, ambit.ProposalExecuting} {
				ids[state], _ = b.bring(t, b.proposal(state.String()), state)
			}
			for state, id := range ids {
				if diff := cmp.Diff([]string{id}, b.list(t, approval.Filter{Tenant: b.tenant, States: []ambit.ProposalState{state}})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", state, diff)
				}
			}
			two := []string{ids[ambit.ProposalPending], ids[ambit.ProposalDenied]}
			if diff := cmp.Diff(two, b.list(t, approval.Filter{Tenant: b.tenant, Limit: 1, States: []ambit.ProposalState{ambit.ProposalDenied, ambit.ProposalPending}})); diff != "" {
				t.Errorf("two states (-want +got):\n%s", diff)
			}
			// What is expired or unknown now may have been written as something else that is
			// asked for as well, and is listed once all the same, in its place.
			all := []ambit.ProposalState{
				ambit.ProposalPending, ambit.ProposalExpired, ambit.ProposalExecuting, ambit.ProposalUnknown, ambit.ProposalApproved, ambit.ProposalDenied, ambit.ProposalPending,
			}
			everything := b.list(t, approval.Filter{Tenant: b.tenant})
			for _, limit := range []int{1, 2, 50} {
				if diff := cmp.Diff(everything, b.list(t, approval.Filter{Tenant: b.tenant, States: all, Limit: limit})); diff != "" {
					t.Errorf("all states, in pages of %d (-want +got):\n%s", limit, diff)
				}
			}
			other := b.proposal("other")
			other.Binding = b.binding("clerk", "other")
			other.Binding.Capability = "notes.publish"
			id := b.propose(t, other).ID
			for name, f := range map[string]approval.Filter{
				"requester":  {Requester: other.Binding.Principal},
				"capability": {Capability: "notes.publish"},
				"operation":  {Operation: other.Binding.Operation()},
				"all three":  {Requester: other.Binding.Principal, Capability: "notes.publish", Operation: other.Binding.Operation()},
			} {
				f.Tenant = b.tenant
				if diff := cmp.Diff([]string{id}, b.list(t, f)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				f.Tenant = "other"
				if got := b.list(t, f); len(got) > 0 {
					t.Errorf("%s, in another tenant: got %d records", name, len(got))
				}
			}
		}},
		{"a cursor from elsewhere is an error", func(t *testing.T, b bench) {
			for _, after := range []string{"x", "-1", "0", "1 or 1=1"} {
				if _, _, err := b.Approvals.List(t.Context(), approval.Filter{Tenant: b.tenant, After: after}); err == nil {
					t.Errorf("cursor %q: want an error, got none", after)
				}
			}
		}},
	}
}

// list returns the ids on all pages.
func (b bench) list(t *testing.T, f approval.Filter) (ids []string) {
	t.Helper()
	for {
		page, next, err := b.Approvals.List(t.Context(), f)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, r := range page {
			ids = append(ids, r.ID)
		}
		if f.After = next; next == "" {
			return ids
		}
		if len(page) == 0 {
			t.Fatal("List: an empty page with a cursor")
		}
	}
}
