package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

// held is a store that holds up what the log writes by itself.
type held struct {
	*memory.Store
	open    chan struct{} // closed: it holds nothing up
	waiting chan struct{} // takes a value when something is held up
}

func newHeld() *held {
	return &held{memory.New(), make(chan struct{}), make(chan struct{}, 1)}
}

func (h *held) Append(ctx context.Context, list ...audit.Entry) error {
	select {
	case h.waiting <- struct{}{}:
	default:
	}
	select {
	case <-h.open:
		return h.Store.Append(ctx, list...)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A flood of refusals and reads leaves a counted gap, and takes no intent and no
// outcome with it.
func TestT22_FloodLeavesACountedGap(t *testing.T) {
	t.Parallel()
	const floods, each, calls, queue = 8, 2000, 100, 64
	store := memoryStore()
	log := newLog(t, store, func(o *audit.Options) {
		o.Queue, o.Wait, o.CloseWithin = queue, time.Hour, time.Hour // however slow the machine is
	})
	var flooding sync.WaitGroup
	for n := range floods {
		flooding.Go(func() {
			for range each {
				if n%2 == 0 {
					refuse(t.Context(), log, eventOf(ambit.Write), ambit.CodeRateLimited)
				} else if err := call(t.Context(), log, eventOf(ambit.Read), ambit.Digest{}, `{}`, succeed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range calls {
		for _, effect := range []ambit.Effect{ambit.Execute, ambit.Write} {
			if err := call(t.Context(), log, eventOf(effect), ambit.Digest{}, `{}`, succeed); err != nil {
				t.Fatal(err)
			}
		}
	}
	flooding.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got := kinds(t, store, "acme")
	if got["intent"] != calls || got["outcome"] != calls {
		t.Errorf("want %d intents and outcomes, got %v", calls, got)
	}
	if total := got["refusal"] + got["call"] + got["missed"] - calls; total != floods*each {
		t.Errorf("want %d reads and refusals on record or counted, got %d: %v", floods*each, total, got)
	}
	for _, r := range bodies(t, store, "acme") {
		if r.Gap != nil && r.Gap.Lost > 0 {
			t.Errorf("outcomes are lost: %+v", r.Gap)
		}
	}
	verified(t, log, "acme")
}

// While the queue is full, reads and refusals are counted at once and tell the
// caller nothing; the gap says how many and since when.
func TestT22_GapCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHeld()
		log := newLog(t, store, func(o *audit.Options) { o.Queue = 4 })
		refuse(t.Context(), log, eventOf(ambit.Read), ambit.CodeForbidden)
		<-store.waiting // one is being written
		began := time.Now()
		for range 4 + 5 {
			refuse(t.Context(), log, eventOf(ambit.Read), ambit.CodeForbidden)
		}
		time.Sleep(time.Second)
		for range 3 {
			if err := call(t.Context(), log, eventOf(ambit.Read), ambit.Digest{}, `{}`, succeed); err != nil {
				t.Fatal(err)
			}
		}
		close(store.open)
		flush(t, log)
		report := verified(t, log, "acme")
		if len(report.Gaps) != 1 {
			t.Fatalf("want a gap, got %+v", report.Gaps)
		}
		want := audit.Gap{Refusals: 5, Reads: 3, Since: began.UTC(), Until: began.Add(time.Second).UTC()}
		if diff := cmp.Diff(want, report.Gaps[0].Gap); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// Where outcomes cannot be written as fast as they come, a call waits for room as
// long as it may, and is unavailable before it runs.
func TestT22_NoRoomIsUnavailableBeforeItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHeld()
		log := newLog(t, store, func(o *audit.Options) { o.Queue, o.Wait = 2, 3*time.Second })
		ran := 0
		handle := func() ambit.Code { ran++; return "" }
		for range 2 {
			if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, handle); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		for _, effect := range []ambit.Effect{ambit.Write, ambit.Destructive} {
			if err := call(t.Context(), log, eventOf(effect), ambit.Digest{}, `{}`, handle); err == nil {
				t.Errorf("%s: there was room", effect)
			}
		}
		if waited := time.Since(began); ran != 2 || waited != 6*time.Second {
			t.Errorf("want two calls that ran and two that waited 3s, got %d and %s", ran, waited)
		}
		close(store.open)
		flush(t, log)
		if got := kinds(t, store, "acme"); got["call"] != 2 || got["refusal"] != 2 || got["intent"] != 0 {
			t.Errorf("want two calls and two refusals, got %v", got)
		}
	})
}

// faulty is a store that fails as it is told to.
type faulty struct {
	*memory.Store
	mu   sync.Mutex
	how  string
	late func() // what a transaction does whose end nobody learned, when the next one begins
}

var errBroken = errors.New("the connection is broken")

func (f *faulty) fail(how string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.how = how
}

// do does something in the way that the store is told to fail.
func (f *faulty) do(something func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.late != nil {
		f.late()
		f.late = nil
	}
	switch f.how {
	case "down":
		return errBroken
	case "done, but nobody learns it":
		f.how = ""
		return errors.Join(something(), errBroken)
	case "done, and down from then on":
		f.how = "down"
		return errors.Join(something(), errBroken)
	case "panics":
		f.how = ""
		panic("a bug in the store")
	case "done later":
		f.how = ""
		f.late = func() { _ = something() }
		return errBroken
	}
	return something()
}

func (f *faulty) Append(ctx context.Context, list ...audit.Entry) error {
	return f.do(func() error { return f.Store.Append(ctx, list...) })
}

func (f *faulty) ClaimWith(ctx context.Context, c ambit.Claim, e audit.Entry) (r ambit.Record, err error) {
	err = f.do(func() (err error) { r, err = f.Store.ClaimWith(context.WithoutCancel(ctx), c, e); return err })
	return r, err
}

func (f *faulty) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	return f.do(func() error { return f.Store.FinishWith(context.WithoutCancel(ctx), c, ending, e) })
}

func (f *faulty) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, string, error) {
	f.mu.Lock()
	down := f.how == "down"
	f.mu.Unlock()
	if down {
		return nil, "", errBroken
	}
	return f.Store.Entries(ctx, q)
}

// An interrupted store costs no outcome: what cannot be written waits, new calls
// are unavailable, and all of it is written when the store is back.
func TestT22_OutcomesOutlastAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: memory.New()}
		var said strings.Builder
		log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.NewTextHandler(&said, nil)) })
		broken := func() ambit.Code { store.fail("down"); return "" }
		if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{1}, `{}`, broken); err == nil {
			t.Error("the outcome was stored in a store that is down")
		}
		if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Errorf("want a write to run while there is room for its outcome, got %v", err)
		}
		ran := false
		if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, func() ambit.Code { ran = true; return "" }); err == nil || ran {
			t.Errorf("want a call unavailable whose intent cannot be written, got %v, ran %t", err, ran)
		}
		time.Sleep(time.Minute) // several tries
		store.fail("")
		flush(t, log)
		if got := kinds(t, store, "acme"); got["intent"] != 1 || got["outcome"] != 2 || got["call"] != 1 {
			t.Errorf("want all of it on record, got %v", got)
		}
		verified(t, log, "acme")
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"the audit record is not written", "the audit record is written again"} {
			if strings.Count(said.String(), want) != 1 {
				t.Errorf("want %q said once:\n%s", want, said.String())
			}
		}
	})
}

// A log that is closed while the store is down says how much it lost.
func TestT22_LossIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: memory.New(), how: "down"}
		var said strings.Builder
		log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.NewTextHandler(&said, nil)) })
		if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := log.Close()
		if want := "audit: the log was closed before 1 outcome could be recorded"; err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
		if took := time.Since(began); took < audit.DefaultCloseWithin || took > audit.DefaultCloseWithin+time.Minute {
			t.Errorf("want it to try for %s, took %s", audit.DefaultCloseWithin, took)
		}
		if !strings.Contains(said.String(), "the outcome of a call is not in the audit record") {
			t.Errorf("the operator is not told:\n%s", said.String())
		}
		if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err == nil {
			t.Error("a closed log takes calls")
		}
	})
}

// A transaction whose end nobody learned leaves no gap and no fork in the chain,
// whether it took effect at once, later, or not at all, and no outcome is on record
// twice.
func TestT22_UnknownEndsOfTransactions(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"done, but nobody learns it", "done, and down from then on", "done later"} {
		for _, step := range []string{"claim", "finish", "append"} {
			synctest.Test(t, func(t *testing.T) {
				store := &faulty{Store: memory.New()}
				log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.DiscardHandler) })
				at, calls := step, ambit.ID(0)
				one := func(effect ambit.Effect) error {
					e := eventOf(effect)
					calls++
					e.Call += calls
					return call(t.Context(), log, e, ambit.Digest{}, `{}`, func() ambit.Code {
						if at == "finish" {
							store.fail(how)
						}
						return ""
					})
				}
				if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
					t.Fatal(err)
				}
				var err error
				switch step {
				case "append":
					store.fail(how)
					err = one(ambit.Write)
					synctest.Wait()
				case "claim":
					store.fail(how)
					err = one(ambit.Execute)
				case "finish":
					err = one(ambit.Execute)
				}
				if at = ""; how == "done, and down from then on" {
					store.fail("")
				}
				if how == "done, but nobody learns it" && err != nil {
					t.Errorf("%s, %s: the log can tell that it was done, and says %v", how, step, err)
				}
				for range 3 {
					if err := one(ambit.Execute); err != nil {
						t.Errorf("%s: the chain does not go on: %v", how, err)
					}
				}
				flush(t, log)
				verified(t, log, "acme")
				want := map[string]int{"intent": 5, "outcome": 5}
				if step == "append" {
					want = map[string]int{"intent": 4, "outcome": 4, "call": 1}
				}
				if diff := cmp.Diff(want, kinds(t, store, "acme")); diff != "" {
					t.Errorf("%s, %s: entries (-want +got):\n%s", how, step, diff)
				}
			})
		}
	}
}

// A ledger that is asked again to finish what it has finished, because nobody
// learned it, finds that out and writes nothing more.
func TestT22_FinishedAgain(t *testing.T) {
	t.Parallel()
	store := &faulty{Store: memory.New()}
	log := newLog(t, store)
	for _, key := range []ambit.Digest{{1}, {}} { // without one there is nothing but the outcome
		e := eventOf(ambit.Execute)
		ctx := log.Observer().Start(t.Context(), e)
		c := ambit.Claim{Attempt: ambit.Attempt{1}, Key: key, Lease: time.Minute, Intent: &ambit.Intent{Event: e, Input: []byte(`{}`)}}
		if _, err := log.Claim(ctx, c); err != nil {
			t.Fatal(err)
		}
		e.Ran = true
		store.fail("done, and down from then on")
		if err := log.Finish(ctx, c, ambit.Ending{Event: &e}); err == nil {
			t.Error("want an error of a store that cannot be asked")
		}
		store.fail("")
		if err := log.Finish(ctx, c, ambit.Ending{Event: &e}); err != nil {
			t.Errorf("asked again: %v", err)
		}
		log.Observer().Finish(ctx, e)
	}
	flush(t, log)
	if diff := cmp.Diff(map[string]int{"intent": 2, "outcome": 2}, kinds(t, store, "acme")); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	verified(t, log, "acme")
}

// A bug in the store neither ends the program nor loses what it was given.
func TestAPanicOfTheStoreIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: memory.New(), how: "panics"}
		log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.DiscardHandler) })
		if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
		flush(t, log)
		if got := kinds(t, store, "acme"); got["call"] != 1 {
			t.Errorf("want the call on record, got %v", got)
		}
		verified(t, log, "acme")
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A gap that could not be written at once is written later, and counts what came
// meanwhile.
func TestT22_GapsOutlastAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: memory.New(), how: "down"}
		log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.DiscardHandler) })
		for range 3 {
			refuse(t.Context(), log, eventOf(ambit.Write), ambit.CodeForbidden)
			time.Sleep(time.Minute)
		}
		store.fail("")
		flush(t, log)
		if got := kinds(t, store, "acme"); got["missed"]+got["refusal"] != 3 || got["gap"] != 1 {
			t.Errorf("want three refusals on record or counted in one gap, got %v", got)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Somebody who takes the place of an entry is found out and holds nothing up.
func TestT22_AForeignEntryHoldsNothingUp(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store, func(o *audit.Options) { o.Logger = slog.New(slog.DiscardHandler) })
	if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
		t.Fatal(err)
	}
	foreign := entries(t, store, "acme")[1]
	foreign.Seq++
	if err := store.Append(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
		t.Errorf("want the call made, got %v", err)
	}
	report, err := log.Verify(t.Context(), "acme", nil)
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Seq != 3 || report.Chains != 2 {
		t.Errorf("want the foreign entry found and another chain, got %+v, %v", report, err)
	}
}

// Calls of several tenants at once leave chains without a fork.
func TestT22_ChainsUnderLoad(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store, func(o *audit.Options) { o.CloseWithin = time.Hour })
	tenants := []string{"", "acme", "bolt"}
	var calling sync.WaitGroup
	const callers, calls = 12, 40
	for n := range callers {
		calling.Go(func() {
			for i := range calls {
				e := eventOf([]ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.Destructive}[i%4])
				e.Tenant = tenants[n%3]
				if err := call(t.Context(), log, e, ambit.Digest{}, `{}`, succeed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calling.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range tenants {
		report := verified(t, log, tenant)
		entries := int(report.Entries)
		for _, g := range report.Gaps { // of reads that a machine which stood still had no time for
			entries += g.Gap.Count() - 1
		}
		if want := callers / 3 * calls / 4 * 6; entries != want || report.Checkpoints != 1 {
			t.Errorf("tenant %q: want %d entries and a checkpoint, got %+v", tenant, want, report)
		}
	}
}
