package audit_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

// written is a record of ten entries with a checkpoint at its end.
func written(t *testing.T, seed byte) ([]audit.Entry, []audit.Checkpoint) {
	t.Helper()
	store, kept := memoryStore(), &sink{}
	log := newLog(t, store, func(o *audit.Options) { o.Checkpoints, o.Keys = kept, ringOf(t, seed) })
	for i := range 5 {
		if err := call(t.Context(), log, eventOf(ambit.Destructive), ambit.Digest{}, fmt.Sprintf(`{"id":%d}`, i), succeed); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return entries(t, store, "acme"), kept.kept
}

// reread returns what another log, with the same keys unless they are others, says
// of entries that somebody has put into a store.
func reread(t *testing.T, list []audit.Entry, checkpoints []audit.Checkpoint, edits ...func(*audit.Options)) audit.Report {
	t.Helper()
	store := memoryStore()
	for _, e := range list {
		if err := store.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	report, err := newLog(t, store, edits...).Verify(t.Context(), "acme", checkpoints)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// paged is a store that gives few entries at a time and counts how many of those that
// it has given are still kept by somebody.
type paged struct {
	*memory.Store
	given []weak.Pointer[byte]
	kept  int // at the end of a chain
}

func (p *paged) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, string, error) {
	q.Limit = 10
	page, next, err := p.Store.Entries(ctx, q)
	if q.Writer == "" || err != nil {
		return page, next, err
	}
	for _, e := range page {
		p.given = append(p.given, weak.Make(&e.Body[0]))
	}
	if next == "" {
		runtime.GC()
		for _, body := range p.given {
			if body.Value() != nil {
				p.kept++
			}
		}
	}
	return page, next, err
}

// A record that was made up as a whole, or whose key is not in the ring any more, is
// read without keeping it.
func TestT22_VerifyKeepsFewEntries(t *testing.T) {
	t.Parallel()
	const entries = 500
	store := &paged{Store: memoryStore()}
	for seq := range uint64(entries) {
		if err := store.Append(t.Context(), audit.Entry{Tenant: "acme", Writer: "w", Seq: seq + 1, Kind: audit.KindCall, Body: []byte(`{"kind":"call","capability":"notes.purge"}`), MAC: []byte("made up")}); err != nil {
			t.Fatal(err)
		}
	}
	report, err := newLog(t, store).Verify(t.Context(), "acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]audit.Finding{{Kind: audit.FoundRecomputed, Writer: "w", Seq: 1, Through: entries}}, report.Findings, cmpopts.IgnoreFields(audit.Finding{}, "Text")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if len(store.given) != entries || store.kept > 50 {
		t.Errorf("want few of %d entries kept, got %d of %d", entries, store.kept, len(store.given))
	}
}

// Whatever somebody does to the store who does not have the keys is found, by
// what it is and where.
func TestT22_VerifyFindsWhatWasDone(t *testing.T) {
	t.Parallel()
	list, marks := written(t, 1)
	if len(list) != 10 || len(marks) != 1 {
		t.Fatalf("want 10 entries and a checkpoint, got %d and %d", len(list), len(marks))
	}
	foreign, foreignMarks := written(t, 2)
	at := func(kind audit.FindingKind, seq, through uint64) audit.Finding {
		return audit.Finding{Kind: kind, Seq: seq, Through: through}
	}
	for _, test := range []struct {
		name  string
		do    func(l []audit.Entry) []audit.Entry
		marks []audit.Checkpoint
		want  []audit.Finding
	}{
		{"nothing", func(l []audit.Entry) []audit.Entry { return l }, marks, nil},
		{"the tail is cut", func(l []audit.Entry) []audit.Entry { return l[:7] }, marks, []audit.Finding{at(audit.FoundCutTail, 8, 10)}},
		{"everything is removed", func([]audit.Entry) []audit.Entry { return nil }, marks, []audit.Finding{at(audit.FoundCutTail, 1, 10)}},
		{"the tail is cut, and nobody kept a checkpoint", func(l []audit.Entry) []audit.Entry { return l[:7] }, nil, nil},
		{"a body is altered", func(l []audit.Entry) []audit.Entry {
			l[3].Body = append([]byte{}, l[3].Body...)
			l[3].Body[len(l[3].Body)-2]++
			return l
		}, marks, []audit.Finding{at(audit.FoundAltered, 4, 4)}},
		{"a column is altered", func(l []audit.Entry) []audit.Entry { l[3].Principal = "somebody"; return l }, marks, []audit.Finding{at(audit.FoundAltered, 4, 4)}},
		{"a time is altered", func(l []audit.Entry) []audit.Entry { l[3].Time = l[3].Time.Add(time.Second); return l }, marks, []audit.Finding{at(audit.FoundAltered, 4, 4)}},
		{"the last entry is altered", func(l []audit.Entry) []audit.Entry { l[9].Kind = "call"; return l }, marks, []audit.Finding{at(audit.FoundAltered, 10, 10)}},
		{"an entry is removed", func(l []audit.Entry) []audit.Entry { return slices.Delete(l, 4, 5) }, marks, []audit.Finding{at(audit.FoundMissing, 5, 5)}},
		{"the front is removed", func(l []audit.Entry) []audit.Entry { return l[3:] }, marks, []audit.Finding{at(audit.FoundMissing, 1, 3)}},
		{"two entries change places", func(l []audit.Entry) []audit.Entry {
			l[4], l[7] = l[7], l[4]
			l[4].Seq, l[7].Seq = 5, 8
			return l
		}, marks, []audit.Finding{at(audit.FoundReordered, 5, 5), at(audit.FoundReordered, 8, 8)}},
		{"two entries change places, and their codes do not", func(l []audit.Entry) []audit.Entry {
			l[2], l[4] = l[4], l[2]
			l[2].Seq, l[4].Seq = 3, 5
			l[2].MAC, l[4].MAC = l[4].MAC, l[2].MAC
			return l
		}, marks, []audit.Finding{at(audit.FoundReordered, 3, 3), at(audit.FoundReordered, 5, 5)}},
		{"an entry is added at the end", func(l []audit.Entry) []audit.Entry {
			added := l[9]
			added.Seq = 11
			return append(l, added)
		}, marks, []audit.Finding{at(audit.FoundAltered, 11, 11)}},
		{"the entries go to another writer", func(l []audit.Entry) []audit.Entry {
			for i := range l {
				l[i].Writer = "other"
			}
			return l
		}, nil, []audit.Finding{at(audit.FoundRecomputed, 1, 10)}},
		{"the end is written anew without the keys", func(l []audit.Entry) []audit.Entry {
			for i := 6; i < 10; i++ {
				l[i].Kind, l[i].Body, l[i].MAC = foreign[i].Kind, foreign[i].Body, foreign[i].MAC
			}
			return l
		}, nil, []audit.Finding{at(audit.FoundRecomputed, 7, 10)}},
		{"all of it is written anew without the keys", func([]audit.Entry) []audit.Entry { return slices.Clone(foreign) }, nil, []audit.Finding{at(audit.FoundRecomputed, 1, 10)}},
		{"a checkpoint is forged", func(l []audit.Entry) []audit.Entry { return l }, foreignMarks, []audit.Finding{at(audit.FoundForgedCheckpoint, 10, 10)}},
	} {
		report := reread(t, test.do(slices.Clone(list)), test.marks)
		if diff := cmp.Diff(test.want, report.Findings, cmpopts.IgnoreFields(audit.Finding{}, "Writer", "Text"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		for _, f := range report.Findings {
			if f.Text == "" || f.Writer == "" {
				t.Errorf("%s: a finding does not say what or where: %+v", test.name, f)
			}
		}
	}
}

// Whoever has the keys can write a chain anew; a checkpoint tells all the same.
func TestT22_CheckpointsTellAChainWrittenAnewWithTheKeys(t *testing.T) {
	t.Parallel()
	_, marks := written(t, 1)
	again, _ := written(t, 1)
	mark := marks[0]
	mark.Writer = again[0].Writer // signed under a ring that is the thief's too
	report := reread(t, again, []audit.Checkpoint{marks[0]})
	if len(report.Findings) != 1 || report.Findings[0].Kind != audit.FoundCutTail {
		t.Errorf("want the first chain missed, got %+v", report.Findings)
	}
	if report := reread(t, again, []audit.Checkpoint{mark}); len(report.Findings) != 1 || report.Findings[0].Kind != audit.FoundForgedCheckpoint {
		t.Errorf("want the altered checkpoint refused, got %+v", report.Findings)
	}
}

// A chain is verified under the key that it was begun with for as long as the
// ring has it.
func TestT24_ChainsOutliveTheirKey(t *testing.T) {
	t.Parallel()
	list, marks := written(t, 1)
	if report := reread(t, list, marks, func(o *audit.Options) { o.Keys = ringOf(t, 9, 1) }); len(report.Findings) > 0 {
		t.Errorf("a retired key does not verify: %+v", report.Findings)
	}
	if report := reread(t, list, nil, func(o *audit.Options) { o.Keys = ringOf(t, 9) }); len(report.Findings) == 0 {
		t.Error("a key that is gone verifies")
	}
	if report := reread(t, list, nil, func(o *audit.Options) { o.Application = "other" }); len(report.Findings) == 0 {
		t.Error("the keys of another application verify")
	}
}

// What is old enough can be removed, and what is left verifies from the cut on;
// a cut that the log has not signed does not hide anything.
func TestT22_PruneLeavesASignedCut(t *testing.T) {
	t.Parallel()
	store, kept := memoryStore(), &sink{}
	log := newLog(t, store, func(o *audit.Options) { o.Checkpoints = kept })
	for range 3 {
		if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
	}
	admin := &ambit.Principal{Tenant: "acme", Authority: "stdio", Subject: "admin"}
	all := entries(t, store, "acme")
	if removed, err := log.Prune(t.Context(), admin, "acme", all[0].Time, nil); removed != 0 || err != nil {
		t.Errorf("want nothing old enough, got %d, %v", removed, err)
	}
	removed, err := log.Prune(t.Context(), admin, "acme", time.Now().Add(time.Second), nil)
	if removed != 6 || err != nil {
		t.Fatalf("want 6 entries removed, got %d, %v", removed, err)
	}
	if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
		t.Fatal(err)
	}
	report := verified(t, log, "acme")
	if report.Entries != 3 || report.Chains != 1 {
		t.Errorf("want 3 entries in a chain, got %+v", report)
	}
	prune := bodies(t, store, "acme")[0]
	if prune.Kind != "prune" || prune.Principal != admin.Key() || prune.Pruned.Through != 6 {
		t.Errorf("want the removal on record, got %+v", prune)
	}

	cuts, err := store.Cuts(t.Context(), "acme")
	if err != nil || len(cuts) != 1 {
		t.Fatalf("want a cut, got %v, %v", cuts, err)
	}
	forged := cuts[0]
	forged.Seq, forged.MAC = 8, entries(t, store, "acme")[1].MAC
	if err := store.Prune(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	report, err = log.Verify(t.Context(), "acme", nil)
	if err != nil || len(report.Findings) != 2 || report.Findings[0].Kind != audit.FoundForgedCut || report.Findings[1].Kind != audit.FoundMissing {
		t.Errorf("want a forged cut and what is missing, got %+v, %v", report.Findings, err)
	}
	if _, err := log.Prune(t.Context(), admin, "acme", time.Now(), nil); err == nil {
		t.Error("a record in which something is wrong was pruned")
	}
}

// stepwise is a store that tells where a chain is cut.
type stepwise struct {
	*memory.Store
	cuts []uint64
}

func (s *stepwise) Prune(ctx context.Context, c audit.Cut) error {
	s.cuts = append(s.cuts, c.Seq)
	return s.Store.Prune(ctx, c)
}

// A long front is removed in steps, so that calls get their turn in between, and is
// one removal on record.
func TestT22_PruneInSteps(t *testing.T) {
	t.Parallel()
	store := &stepwise{Store: memoryStore()}
	log := newLog(t, store)
	for range 2300 {
		refuse(t.Context(), log, eventOf(ambit.Read), ambit.CodeForbidden)
	}
	flush(t, log)
	admin := &ambit.Principal{Tenant: "acme", Authority: "stdio", Subject: "admin"}
	if removed, err := log.Prune(t.Context(), admin, "acme", time.Now().Add(time.Second), nil); removed != 2300 || err != nil {
		t.Errorf("want 2300 entries removed, got %d, %v", removed, err)
	}
	if diff := cmp.Diff([]uint64{1000, 2000, 2300}, store.cuts); diff != "" {
		t.Errorf("cuts (-want +got):\n%s", diff)
	}
	if report := verified(t, log, "acme"); report.Entries != 1 {
		t.Errorf("want the record of the removal and nothing else, got %+v", report)
	}
	if prune := bodies(t, store, "acme")[0]; prune.Pruned == nil || prune.Pruned.Through != 2300 {
		t.Errorf("want the whole removal on record, got %+v", prune)
	}
}

// A long record is read in pages.
func TestVerifyReadsAllPages(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	const calls = 1300
	for range calls {
		if err := call(t.Context(), log, eventOf(ambit.Read), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, log)
	if report := verified(t, log, "acme"); report.Entries != calls {
		t.Errorf("want %d entries, got %d", calls, report.Entries)
	}
}

// shuffled is a store whose lists show two entries in each other's place.
type shuffled struct{ *memory.Store }

func (s shuffled) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, string, error) {
	page, next, err := s.Store.Entries(ctx, q)
	if q.Writer == "" && len(page) > 2 {
		page[1], page[2] = page[2], page[1]
	}
	return page, next, err
}

// The order in which lists show a chain is verified too, although no code covers it.
func TestT22_ShuffledLists(t *testing.T) {
	t.Parallel()
	log := newLog(t, shuffled{memoryStore()})
	for range 2 {
		if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
	}
	report, err := log.Verify(t.Context(), "acme", nil)
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Kind != audit.FoundReordered || report.Findings[0].Seq != 2 {
		t.Errorf("want entry 2 found where it is listed, got %+v, %v", report.Findings, err)
	}
}
