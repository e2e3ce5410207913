package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

// marks keeps checkpoints.
type marks struct {
	mu   sync.Mutex
	kept []audit.Checkpoint
}

// Keep takes a checkpoint.
func (m *marks) Keep(_ context.Context, c audit.Checkpoint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, c)
	return nil
}

// logOver returns a log over a store. All of them have the same keys.
func logOver(t *testing.T, store audit.Store, kept *marks) *audit.Log {
	t.Helper()
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{7}, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.New(store, audit.Options{
		Keys: ring, Application: "storetest", Checkpoints: kept, Logger: slog.New(slog.DiscardHandler),
		Wait: time.Hour, CloseWithin: time.Hour, // however slow the machine is
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// recorded makes calls of an application with an audit record: each has an intent
// and an outcome, but for the last, which repeats the first.
func recorded(t *testing.T, log *audit.Log, tenant string, callers, calls int) {
	t.Helper()
	type input struct {
		N int `json:"n"`
	}
	app := ambit.New(ambit.Options{Name: "storetest", Ledger: log, Logger: slog.New(slog.DiscardHandler), Limits: ambit.Limits{InFlight: ambit.Unlimited}})
	do := ambit.NewContract[input, input](ambit.Spec{Name: "do", Description: "Do it.", Effect: ambit.External, Permission: ambit.Authenticated, RecordInput: true})
	app.Add(do.Bind(func(_ context.Context, in input) (input, error) { return in, nil }))
	prefix := rand.Text()
	var calling sync.WaitGroup
	for caller := range callers {
		calling.Go(func() {
			ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
				Principal: &ambit.Principal{Tenant: tenant, Authority: "apikey", Subject: fmt.Sprint("caller ", caller)}, Mode: ambit.ModeAuto,
			})
			defer run.End()
			for n := range calls {
				n %= max(calls-1, 1)
				if _, err := do.Call(ctx, input{n}, ambit.WithIdempotencyKey(fmt.Sprint(prefix, caller, "-", n))); err != nil {
					t.Errorf("call %d of %d: %v", n, caller, err)
				}
			}
		})
	}
	calling.Wait()
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// verify wants a record without findings.
func verify(t *testing.T, log *audit.Log, tenant string, kept *marks) audit.Report {
	t.Helper()
	report, err := log.Verify(t.Context(), tenant, kept.kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s at %d to %d of %s: %s", f.Kind, f.Seq, f.Through, f.Writer, f.Text)
	}
	return report
}

func recordTests() []test {
	return []test{
		{"a record of calls at once, by two instances, verifies", func(t *testing.T, b bench) {
			kept := &marks{}
			first, second := logOver(t, b.Audit, kept), logOver(t, b.Audit, kept)
			var calling sync.WaitGroup
			for i, log := range []*audit.Log{first, second} {
				calling.Go(func() { recorded(t, log, fmt.Sprint("tenant ", i), 4, 5) })
				calling.Go(func() { recorded(t, log, b.tenant, 2, 3) })
			}
			calling.Wait()
			for _, log := range []*audit.Log{first, second} {
				if err := log.Close(); err != nil {
					t.Error(err)
				}
			}
			for tenant, chains := range map[string]int{"tenant 0": 1, "tenant 1": 1, b.tenant: 2} {
				if report := verify(t, first, tenant, kept); report.Chains != chains || report.Checkpoints != chains {
					t.Errorf("%s: want %d chains with a checkpoint each, got %+v", tenant, chains, report)
				}
			}
		}},
		{"what is pruned leaves a cut, and the rest verifies", func(t *testing.T, b bench) {
			kept := &marks{}
			log := logOver(t, b.Audit, kept)
			recorded(t, log, b.tenant, 1, 4)
			before := verify(t, log, b.tenant, kept)
			admin := &ambit.Principal{Tenant: b.tenant, Authority: "login", Subject: "admin"}
			removed, err := log.Prune(t.Context(), admin, b.tenant, time.Now().Add(time.Hour), kept.kept)
			if err != nil || removed != before.Entries {
				t.Errorf("want %d entries removed, got %d, %v", before.Entries, removed, err)
			}
			recorded(t, log, b.tenant, 2, 2)
			if err := log.Close(); err != nil {
				t.Error(err)
			}
			if after := verify(t, log, b.tenant, kept); after.Chains != 1 || after.Entries == 0 || after.Checkpoints != 1 {
				t.Errorf("want one chain that goes on, got %+v", after)
			}
		}},
		{"whatever is done to a record behind its log's back is found", verifyFinds},
	}
}

// verifyFinds puts records into the store to which something was done.
func verifyFinds(t *testing.T, b bench) {
	log := logOver(t, b.Audit, &marks{})
	at := func(kind audit.FindingKind, seq, through uint64) audit.Finding {
		return audit.Finding{Kind: kind, Seq: seq, Through: through}
	}
	for i, test := range []struct {
		name string
		do   func(l, other []audit.Entry) []audit.Entry
		want []audit.Finding
	}{
		{"nothing", func(l, _ []audit.Entry) []audit.Entry { return l }, nil},
		{"the tail is cut", func(l, _ []audit.Entry) []audit.Entry { return l[:5] }, []audit.Finding{at(audit.FoundCutTail, 6, 9)}},
		{"all is removed", func(_, _ []audit.Entry) []audit.Entry { return nil }, []audit.Finding{at(audit.FoundCutTail, 1, 9)}},
		{"an entry is altered", func(l, _ []audit.Entry) []audit.Entry {
			l[2].Body = bytes.Replace(l[2].Body, []byte("caller"), []byte("nobody"), 1)
			return l
		}, []audit.Finding{at(audit.FoundAltered, 3, 3)}},
		{"entries change places", func(l, _ []audit.Entry) []audit.Entry {
			l[2], l[5] = l[5], l[2]
			l[2].Seq, l[5].Seq = 3, 6
			return l
		}, []audit.Finding{at(audit.FoundReordered, 3, 3), at(audit.FoundReordered, 6, 6)}},
		{"entries are removed", func(l, _ []audit.Entry) []audit.Entry { return slices.Delete(l, 2, 4) }, []audit.Finding{at(audit.FoundMissing, 3, 4)}},
		{"the chain is written anew by somebody without the keys", func(l, other []audit.Entry) []audit.Entry {
			for i := 4; i < len(l); i++ {
				l[i].Body, l[i].MAC = other[i].Body, other[i].MAC
			}
			return l
		}, []audit.Finding{at(audit.FoundRecomputed, 9, 9), at(audit.FoundRecomputed, 5, 9)}},
	} {
		tenant := fmt.Sprint("tenant ", i)
		list, kept := chainOf(t, tenant)
		other, _ := chainOf(t, "another")
		for _, e := range test.do(list, other) {
			if err := b.Audit.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		report, err := log.Verify(t.Context(), tenant, kept.kept)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, report.Findings, cmpopts.IgnoreFields(audit.Finding{}, "Writer", "Text"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// chainOf returns a chain of nine entries with its checkpoint.
func chainOf(t *testing.T, tenant string) ([]audit.Entry, *marks) {
	t.Helper()
	store, kept := memory.New(), &marks{}
	log := logOver(t, store, kept)
	recorded(t, log, tenant, 1, 5)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	list, _, err := store.Entries(t.Context(), audit.Query{Tenant: tenant, Limit: 10})
	if err != nil || len(list) != 9 {
		t.Fatalf("want 9 entries, got %d, %v", len(list), err)
	}
	return list, kept
}
