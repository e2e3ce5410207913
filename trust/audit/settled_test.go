package audit_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/audit"
)

// A call whose end a person has settled is no longer open, whichever writer has that on
// record, and before or behind the call's own chain. Another verdict, another proposal
// and another tenant settle nothing.
func TestT22_SettledCallsAreNotOpen(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	add := func(r audit.Record) {
		t.Helper()
		log := newLog(t, store) // with a chain of its own
		err := log.With(t.Context(), r, func(ctx context.Context, e audit.Entry) (bool, error) { return true, store.Append(ctx, e) })
		if err != nil {
			t.Fatal(err)
		}
	}
	said := func(tenant, proposal, verdict string) {
		add(audit.Record{Kind: audit.KindDecision, Tenant: tenant, Call: "asked", Proposal: proposal, Verdict: verdict})
	}
	said("acme", "p1", "settle-succeeded")
	said("acme", "p3", "approve")
	said("umbrella", "p4", "settle-failed")
	said("acme", "", "settle-failed")
	for call, proposal := range map[string]string{"c1": "p1", "c2": "p2", "c3": "p3", "c4": "p4", "c5": ""} {
		add(audit.Record{Kind: audit.KindIntent, Tenant: "acme", Call: call, Proposal: proposal})
	}
	said("acme", "p2", "settle-failed")
	open := map[string]bool{}
	for _, o := range verified(t, newLog(t, store), "acme").Open {
		open[o.Call] = true
	}
	if diff := cmp.Diff(map[string]bool{"c3": true, "c4": true, "c5": true}, open); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
}

// Where no key fits anything, that is said before all that follows from it.
func TestT24_TheWrongRingIsTold(t *testing.T) {
	t.Parallel()
	list, marks := written(t, 1)
	const want = "No key of the ring fits any entry, cut or checkpoint: is this the right key ring? If it is, all of it was written anew."
	altered := append([]audit.Entry{}, list...)
	altered[3].Principal = "somebody"
	for _, test := range []struct {
		name  string
		list  []audit.Entry
		marks []audit.Checkpoint
		seed  byte
		want  string
	}{
		{"the right ring", list, marks, 1, ""},
		{"the right ring, and an entry is altered", altered, marks, 1, ""},
		{"the right ring for the checkpoints alone", altered[3:4], marks, 1, ""},
		{"another ring", list, marks, 2, want},
		{"another ring, and no checkpoint", list, nil, 2, want},
		{"another ring, and no entry", nil, marks, 2, want},
		{"another ring, and nothing", nil, nil, 2, ""},
	} {
		report := reread(t, test.list, test.marks, func(o *audit.Options) { o.Keys = ringOf(t, test.seed) })
		if report.Hint != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, report.Hint)
		}
	}
}
