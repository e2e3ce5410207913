package audit_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// ringOf returns a key ring whose keys are made of the bytes named.
func ringOf(t testing.TB, seeds ...byte) *ambit.KeyRing {
	t.Helper()
	keys := make([]ambit.Key, len(seeds))
	for i, seed := range seeds {
		keys[i].Secret = bytes.Repeat([]byte{seed}, ambit.MinKey)
		if i > 0 {
			keys[i].Until = time.Now().Add(24 * time.Hour)
		}
	}
	ring, err := ambit.NewKeyRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// sink keeps checkpoints in memory.
type sink struct {
	mu   sync.Mutex
	kept []audit.Checkpoint
}

func (s *sink) Keep(_ context.Context, c audit.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, c)
	return nil
}

func (s *sink) Checkpoints(context.Context) ([]audit.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept), nil
}

// newLog returns a log over a store, which the test closes at its end unless it
// has done so itself.
func newLog(t testing.TB, store audit.Store, edits ...func(*audit.Options)) *audit.Log {
	t.Helper()
	options := audit.Options{Keys: ringOf(t, 1), Application: "test", Checkpoints: &sink{}, CheckpointEvery: time.Hour}
	for _, edit := range edits {
		edit(&options)
	}
	log, err := audit.New(store, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// entries returns all that a store has of a tenant.
func entries(t testing.TB, store audit.Store, tenant string) (all []audit.Entry) {
	t.Helper()
	for q := (audit.Query{Tenant: tenant, Limit: 1000}); ; {
		page, next, err := store.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page...)
		if q.After = next; next == "" {
			return all
		}
	}
}

// bodies returns what the entries of a tenant say, without the times.
func bodies(t testing.TB, store audit.Store, tenant string) (all []audit.Record) {
	t.Helper()
	for _, e := range entries(t, store, tenant) {
		r, err := e.Record()
		if err != nil {
			t.Fatal(err)
		}
		if r.Began, r.Took = (time.Time{}), 0; r.Gap != nil {
			r.Gap.Since, r.Gap.Until = time.Time{}, time.Time{}
		}
		all = append(all, r)
	}
	return all
}

// kinds counts the kinds of entries.
func kinds(t testing.TB, store audit.Store, tenant string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, r := range bodies(t, store, tenant) {
		counts[r.Kind]++
		if r.Gap != nil {
			counts["missed"] += r.Gap.Count()
		}
	}
	return counts
}

// verified wants a record as it was written.
func verified(t testing.TB, log *audit.Log, tenant string) audit.Report {
	t.Helper()
	checkpoints, err := log.Checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := log.Verify(t.Context(), tenant, checkpoints)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s at %d to %d of %s: %s", f.Kind, f.Seq, f.Through, f.Writer, f.Text)
	}
	return report
}

var robot = &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot", Kind: ambit.KindAgent}

// eventOf is a call of robot's.
func eventOf(effect ambit.Effect) ambit.Event {
	return ambit.Event{
		Capability: "notes." + effect.String(), Effect: effect, Surface: ambit.HTTP, Via: ambit.HTTP, Run: 36, Call: 37,
		Principal: robot.Key(), Tenant: robot.Tenant, Kind: robot.Kind, Began: time.Now(),
	}
}

// errFull is what a handler is told by that did not start.
var errFull = errors.New("not made")

// call does with a log what the pipeline does with it. Handle is the handler.
func call(ctx context.Context, log *audit.Log, e ambit.Event, key ambit.Digest, input string, handle func() ambit.Code) error {
	observer := log.Observer()
	ctx = observer.Start(ctx, e)
	claim := ambit.Claim{Key: key, Lease: time.Minute, Intent: &ambit.Intent{Event: e, Input: []byte(input)}}
	claim.Binding = ambit.Binding{Tenant: e.Tenant, Principal: e.Principal, Capability: e.Capability}
	_, _ = rand.Read(claim.Attempt[:])
	err := func() error {
		if !log.Records(e.Effect) {
			e.Ran, e.Code = true, handle()
			return nil
		}
		record, err := log.Claim(ctx, claim)
		switch {
		case err != nil:
			e.Code = ambit.CodeUnavailable
			return errors.Join(err, log.Release(ctx, claim))
		case record.State == ambit.RecordFinished:
			e.Replayed = true
			return nil
		case record.State != ambit.RecordFree:
			e.Code = ambit.CodeConflict
			return errFull
		}
		e.Ran, e.Code, e.Key = true, handle(), key
		e.Took = time.Since(e.Began)
		return log.Finish(ctx, claim, ambit.Ending{Failed: e.Code != "", Event: &e})
	}()
	if wants, ok := observer.(ambit.InputObserver); ok {
		wants.FinishInput(ctx, e, ambit.CallInput{})
	}
	return err
}

// refuse is a call that is refused.
func refuse(ctx context.Context, log *audit.Log, e ambit.Event, why ambit.Code) {
	observer := log.Observer()
	ctx = observer.Start(ctx, e)
	e.Code = why
	observer.Finish(ctx, e)
}

func succeed() ambit.Code { return "" }

func flush(t testing.TB, log *audit.Log) {
	t.Helper()
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// memoryStore is an empty store.
func memoryStore() *memory.Store { return memory.New() }
