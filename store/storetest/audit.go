package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/audit"
)

// entry is the entry of a chain with a number.
func (b bench) entry(writer string, seq uint64) audit.Entry {
	return audit.Entry{
		Tenant: b.tenant, Writer: writer, Seq: seq, Time: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC).Add(time.Duration(seq) * time.Minute),
		Kind: "call", Principal: "4:acme/6:apikey/robot", Capability: "notes.purge", Call: fmt.Sprint("call ", seq), Run: "run", Proposal: "proposal",
		Body: fmt.Appendf(nil, `{"seq":%d,"text":"\u0000 and é"}`, seq), MAC: []byte{0, 1, 2, byte(seq)},
	}
}

func (b bench) chain(writer string, n uint64) (entries []audit.Entry) {
	for seq := uint64(1); seq <= n; seq++ {
		entries = append(entries, b.entry(writer, seq))
	}
	return entries
}

func (b bench) append(t *testing.T, entries ...audit.Entry) {
	t.Helper()
	if err := b.Audit.Append(t.Context(), entries...); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

// entries returns what is on all pages of a query.
func (b bench) entries(t *testing.T, q audit.Query) (all []audit.Entry) {
	t.Helper()
	for {
		page, next, err := b.Audit.Entries(t.Context(), q)
		if err != nil {
			t.Fatalf("Entries: %v", err)
		}
		all = append(all, page...)
		if q.After = next; next == "" {
			return all
		}
		if len(page) == 0 {
			t.Fatal("Entries: an empty page with a cursor")
		}
	}
}

// auditTests are about chains of entries.
func auditTests() []test {
	return []test{
		{"entries come back as they were, in pages, both ways", func(t *testing.T, b bench) {
			want := b.chain("w", 23)
			b.append(t, want[:1]...)
			b.append(t, want[1:]...)
			for _, limit := range []int{0, 1, 5, 23} {
				if diff := cmp.Diff(want, b.entries(t, audit.Query{Tenant: b.tenant, Limit: limit})); diff != "" {
					t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
				}
			}
			slices.Reverse(want)
			if diff := cmp.Diff(want, b.entries(t, audit.Query{Tenant: b.tenant, Limit: 5, Newest: true})); diff != "" {
				t.Errorf("newest first (-want +got):\n%s", diff)
			}
		}},
		{"whoever follows the record finds what was added", func(t *testing.T, b bench) {
			all := b.chain("w", 5)
			b.append(t, all[:3]...)
			page, next, err := b.Audit.Entries(t.Context(), audit.Query{Tenant: b.tenant, Limit: 2})
			if err != nil || len(page) != 2 || next == "" {
				t.Fatalf("Entries: got %d entries, cursor %q, error %v", len(page), next, err)
			}
			b.append(t, all[3:]...)
			if diff := cmp.Diff(all[2:], b.entries(t, audit.Query{Tenant: b.tenant, After: next})); diff != "" {
				t.Errorf("entries after the cursor (-want +got):\n%s", diff)
			}
		}},
		{"a chain goes by its numbers, all entries by when they came", func(t *testing.T, b bench) {
			all := b.chain("w", 4)
			for _, i := range []int{2, 0, 3, 1} {
				b.append(t, all[i], b.entry("v", uint64(i+1)))
			}
			if diff := cmp.Diff(all, b.entries(t, audit.Query{Tenant: b.tenant, Writer: "w", Limit: 1})); diff != "" {
				t.Errorf("the chain (-want +got):\n%s", diff)
			}
			backward := slices.Clone(all[1:])
			slices.Reverse(backward)
			if diff := cmp.Diff(backward, b.entries(t, audit.Query{Tenant: b.tenant, Writer: "w", FromSeq: 2, Newest: true, Limit: 2})); diff != "" {
				t.Errorf("the chain backward, without its first (-want +got):\n%s", diff)
			}
			var came []uint64
			for _, e := range b.entries(t, audit.Query{Tenant: b.tenant, Limit: 3}) {
				came = append(came, e.Seq)
			}
			if diff := cmp.Diff([]uint64{3, 3, 1, 1, 4, 4, 2, 2}, came); diff != "" {
				t.Errorf("as they came (-want +got):\n%s", diff)
			}
		}},
		{"a place in a chain is taken once", func(t *testing.T, b bench) {
			first := b.chain("w", 2)
			b.append(t, first...)
			other := b.entry("w", 2)
			other.Body = []byte("{}")
			for name, entries := range map[string][]audit.Entry{
				"a place taken":            {other},
				"one of several taken":     {b.entry("w", 3), other, b.entry("w", 4)},
				"two for one place":        {b.entry("w", 3), b.entry("w", 3)},
				"one taken in another way": {b.entry("w", 1), b.entry("v", 1)},
			} {
				if err := b.Audit.Append(t.Context(), entries...); err == nil {
					t.Errorf("%s: want an error, got none", name)
				}
			}
			if diff := cmp.Diff(first, b.entries(t, audit.Query{Tenant: b.tenant})); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			b.append(t, b.entry("v", 2))
			other2 := bench{b.Stores, "other"}
			b.append(t, other2.entry("w", 2))
		}},
		{"of 50 who add at one place, one does", func(t *testing.T, b bench) {
			added := 0
			for _, err := range together(50, func(int) error { return b.Audit.Append(t.Context(), b.entry("w", 1)) }) {
				added += count(err == nil)
			}
			if n := len(b.entries(t, audit.Query{Tenant: b.tenant})); added != 1 || n != 1 {
				t.Errorf("want one entry added, got %d of which %d are there", added, n)
			}
		}},
		{"a query is narrowed by what it asks for", narrowed},
		{"chains, tenants and their ends", func(t *testing.T, b bench) {
			other := bench{b.Stores, ""}
			b.append(t, b.chain("w", 3)...)
			b.append(t, b.chain("v", 2)...)
			b.append(t, other.chain("u", 1)...)
			last, err := b.Audit.Chains(t.Context(), b.tenant)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(last, func(x, y audit.Entry) int { return int(y.Seq) - int(x.Seq) })
			if diff := cmp.Diff([]audit.Entry{b.entry("w", 3), b.entry("v", 2)}, last); diff != "" {
				t.Errorf("Chains (-want +got):\n%s", diff)
			}
			tenants, err := b.Audit.Tenants(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(tenants)
			if diff := cmp.Diff([]string{"", b.tenant}, tenants); diff != "" {
				t.Errorf("Tenants (-want +got):\n%s", diff)
			}
		}},
		{"the front of a chain is cut, and the cut is kept", pruned},
	}
}

func narrowed(t *testing.T, b bench) {
	entries := b.chain("w", 9)
	for i := range entries {
		e := &entries[i]
		switch e.Seq {
		case 2:
			e.Kind = "decision"
		case 3:
			e.Principal = "another"
		case 4:
			e.Capability = "another"
		case 5:
			e.Run = "another"
		case 6:
			e.Proposal = "another"
		case 7:
			e.Call, e.Capability, e.Kind, e.Principal, e.Run, e.Proposal = "", "", "gap", "", "", ""
		}
	}
	b.append(t, entries...)
	b.append(t, bench{b.Stores, "other"}.chain("w", 3)...)
	for name, test := range map[string]struct {
		query audit.Query
		want  []audit.Entry
	}{
		"kind":             {audit.Query{Kind: "decision"}, entries[1:2]},
		"principal":        {audit.Query{Principal: "another"}, entries[2:3]},
		"capability":       {audit.Query{Capability: "another"}, entries[3:4]},
		"call":             {audit.Query{Call: "call 8"}, entries[7:8]},
		"run":              {audit.Query{Run: "another"}, entries[4:5]},
		"proposal":         {audit.Query{Proposal: "another"}, entries[5:6]},
		"since":            {audit.Query{Since: entries[6].Time}, entries[6:]},
		"until":            {audit.Query{Until: entries[2].Time}, entries[:2]},
		"between":          {audit.Query{Since: entries[1].Time, Until: entries[3].Time}, entries[1:3]},
		"one chain":        {audit.Query{Writer: "w"}, entries},
		"its end":          {audit.Query{Writer: "w", FromSeq: 6}, entries[5:]},
		"another chain":    {audit.Query{Writer: "v"}, nil},
		"several together": {audit.Query{Kind: "call", Run: "another", Since: entries[0].Time}, entries[4:5]},
		"nothing":          {audit.Query{Kind: "decision", Run: "another"}, nil},
	} {
		test.query.Tenant, test.query.Limit = b.tenant, 2
		if diff := cmp.Diff(test.want, b.entries(t, test.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, after := range []string{"x", "-1", "0"} {
		if _, _, err := b.Audit.Entries(t.Context(), audit.Query{Tenant: b.tenant, After: after}); err == nil {
			t.Errorf("cursor %q: want an error, got none", after)
		}
	}
}

func pruned(t *testing.T, b bench) {
	w, v := b.chain("w", 5), b.chain("v", 2)
	b.append(t, w...)
	b.append(t, v...)
	cut := func(seq uint64) audit.Cut {
		return audit.Cut{
			Tenant: b.tenant, Writer: "w", Seq: seq, MAC: []byte{byte(seq), 0}, Time: time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC), Signature: []byte{0, 255, byte(seq)},
		}
	}
	if err := b.Audit.Prune(t.Context(), cut(6)); err == nil {
		t.Error("a cut at an entry that is not there: want an error, got none")
	}
	for _, seq := range []uint64{2, 4} {
		if err := b.Audit.Prune(t.Context(), cut(seq)); err != nil {
			t.Fatalf("Prune: %v", err)
		}
		if diff := cmp.Diff(slices.Concat(w[seq:], v), b.entries(t, audit.Query{Tenant: b.tenant})); diff != "" {
			t.Errorf("entries after the cut at %d (-want +got):\n%s", seq, diff)
		}
		cuts, err := b.Audit.Cuts(t.Context(), b.tenant)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]audit.Cut{cut(seq)}, cuts); diff != "" {
			t.Errorf("Cuts (-want +got):\n%s", diff)
		}
	}
	if err := b.Audit.Prune(t.Context(), cut(3)); err == nil {
		t.Error("a cut before the last one: want an error, got none")
	}
	if err := b.Audit.Append(t.Context(), b.entry("w", 3)); err == nil {
		t.Error("an entry in a place that was cut off: want an error, got none")
	}
	if cuts, err := b.Audit.Cuts(t.Context(), "other"); err != nil || len(cuts) > 0 {
		t.Errorf("Cuts of another tenant: want none, got %d, error %v", len(cuts), err)
	}
}
