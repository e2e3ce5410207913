package idempotency_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// claim returns a claim of a principal for a key.
func claim(principal, key string, attempt byte) ambit.Claim {
	c := ambit.Claim{
		Attempt: ambit.Attempt{attempt},
		Binding: ambit.Binding{Principal: principal, Capability: "change"},
		Lease:   time.Minute,
	}
	copy(c.Key[:], key)
	return c
}

func TestT17_OneClaimWins(t *testing.T) {
	t.Parallel()
	m := idempotency.NewMemory(idempotency.Options{})
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			c := claim("alice", "k", byte(i))
			record, err := m.Claim(t.Context(), c)
			switch {
			case err != nil:
				t.Error(err)
			case record.State == ambit.RecordFree:
				won.Add(1)
				if err := m.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("done")}); err != nil {
					t.Error(err)
				}
			case record.State != ambit.RecordRunning && record.State != ambit.RecordFinished:
				t.Errorf("want a record in the way, got %+v", record)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("want one winner, got %d", won.Load())
	}
}

func TestT17_Lives(t *testing.T) {
	t.Parallel()
	c := claim("alice", "k", 1)
	free := ambit.Record{}
	in := func(state ambit.RecordState, outcome string) ambit.Record {
		r := ambit.Record{State: state, Operation: c.Binding.Operation()}
		if outcome != "" {
			r.Outcome = []byte(outcome)
		}
		return r
	}
	finish := func(c ambit.Claim) func(*idempotency.Memory) error {
		return func(m *idempotency.Memory) error {
			return m.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("done")})
		}
	}
	release := func(c ambit.Claim) func(*idempotency.Memory) error {
		return func(m *idempotency.Memory) error { return m.Release(t.Context(), c) }
	}
	pass := func(d time.Duration) func(*idempotency.Memory) error {
		return func(*idempotency.Memory) error { <-time.After(d); return nil }
	}
	strange := claim("alice", "k", 2)
	tests := []struct {
		name  string
		steps []func(*idempotency.Memory) error
		want  ambit.Record
		fails bool
	}{
		{"claimed", nil, in(ambit.RecordRunning, ""), false},
		{"at the end of its lease", steps(pass(time.Minute - 1)), in(ambit.RecordRunning, ""), false},
		{"lapsed", steps(pass(time.Minute)), in(ambit.RecordUnknown, ""), false},
		{"finished", steps(finish(c)), in(ambit.RecordFinished, "done"), false},
		{"finished after the lease", steps(pass(time.Hour), finish(c)), in(ambit.RecordFinished, "done"), false},
		{"finished twice", steps(finish(c), finish(c)), in(ambit.RecordFinished, "done"), false},
		{"finished by a stranger", steps(finish(strange)), in(ambit.RecordRunning, ""), true},
		{"released", steps(release(c)), free, false},
		{"released by a stranger", steps(release(strange)), in(ambit.RecordRunning, ""), false},
		{"released once finished", steps(finish(c), release(c)), in(ambit.RecordFinished, "done"), false},
		{"released, then finished", steps(release(c), finish(c)), free, true},
		{"a moment before it expires", steps(finish(c), pass(24*time.Hour-1)), in(ambit.RecordFinished, "done"), false},
		{"expired", steps(finish(c), pass(24*time.Hour)), free, false},
		{"expired while nobody knew", steps(pass(24 * time.Hour)), free, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := idempotency.NewMemory(idempotency.Options{})
				record, err := m.Claim(t.Context(), c)
				if err != nil || record.State != ambit.RecordFree {
					t.Fatalf("want the claim made, got %+v, %v", record, err)
				}
				for _, step := range test.steps {
					err = step(m)
				}
				if (err != nil) != test.fails {
					t.Errorf("want an error %t, got %v", test.fails, err)
				}
				got, err := m.Find(t.Context(), c)
				if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
				again, err := m.Claim(t.Context(), strange)
				if diff := cmp.Diff(test.want, again); diff != "" || err != nil {
					t.Errorf("a second claim: %v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

func steps(s ...func(*idempotency.Memory) error) []func(*idempotency.Memory) error { return s }

func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := idempotency.NewMemory(idempotency.Options{Records: 5, Keep: time.Hour})
		take := func(principal string, key int) error {
			record, err := m.Claim(t.Context(), claim(principal, fmt.Sprint(principal, key), 1))
			if err == nil && record.State != ambit.RecordFree {
				t.Fatalf("want it free, got %+v", record)
			}
			return err
		}
		for i := range 3 { // half of five, rounded up
			if err := take("alice", i); err != nil {
				t.Fatal(err)
			}
		}
		if err := take("alice", 3); ambit.CodeOf(err) != ambit.CodeRateLimited {
			t.Errorf("want rate_limited for whoever holds half, got %v", err)
		}
		for i := range 2 {
			if err := take("bob", i); err != nil {
				t.Fatal(err)
			}
		}
		if err, _ := errors.AsType[*ambit.Error](take("carol", 0)); err != nil {
			t.Errorf("want a fault of the store, got %v", err)
		}
		if err := take("carol", 0); err == nil || !strings.Contains(err.Error(), "all of the 5 records") {
			t.Errorf("want no room, got %v", err)
		}
		if err := m.Release(t.Context(), claim("bob", "bob0", 1)); err != nil {
			t.Fatal(err)
		}
		if err := take("carol", 0); err != nil {
			t.Errorf("want the room that was given back, got %v", err)
		}
		<-time.After(time.Hour)
		for i := range 3 {
			if err := take("alice", i); err != nil {
				t.Errorf("want the room of what has expired, got %v", err)
			}
		}
	})
}

// The receipt takes the place of what does not fit, where it does itself.
func TestRoomForReceipts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		outcome, receipt int
		want             int
	}{
		{"the outcome fits", 40, 10, 40},
		{"the outcome does not", 41, 10, 10},
		{"neither does", 41, 41, 0},
		{"there is none", 41, 0, 0},
	} {
		m := idempotency.NewMemory(idempotency.Options{Bytes: 1000, Outcome: 40})
		c := claim("alice", "k", 1)
		if _, err := m.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := m.Finish(t.Context(), c, ambit.Ending{Outcome: make([]byte, test.outcome), Receipt: make([]byte, test.receipt)}); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Find(t.Context(), c); err != nil || got.State != ambit.RecordFinished || len(got.Outcome) != test.want {
			t.Errorf("%s: want %d bytes kept, got %+v, %v", test.name, test.want, got, err)
		}
	}
}

func TestRoomForOutcomes(t *testing.T) {
	t.Parallel()
	m := idempotency.NewMemory(idempotency.Options{Bytes: 100, Outcome: 40})
	tests := []struct {
		principal string
		size      int
		kept      bool
	}{
		{"alice", 41, false}, // larger than one may be
		{"alice", 40, true},
		{"alice", 11, false}, // more than half of all
		{"alice", 10, true},
		{"bob", 40, true},
		{"carol", 11, false}, // no room
		{"carol", 10, true},
	}
	for i, test := range tests {
		c := claim(test.principal, fmt.Sprint(i), 1)
		if _, err := m.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := m.Finish(t.Context(), c, ambit.Ending{Outcome: make([]byte, test.size)}); err != nil {
			t.Fatal(err)
		}
		got, err := m.Find(t.Context(), c)
		if err != nil || got.State != ambit.RecordFinished || (got.Outcome != nil) != test.kept {
			t.Errorf("%s, %d bytes: want it finished and kept %t, got %+v, %v", test.principal, test.size, test.kept, got, err)
		}
	}
}

// A lease that outlives what is kept does not end early, and holds nothing up.
func TestLeaseLongerThanKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := idempotency.NewMemory(idempotency.Options{Keep: time.Second})
		long, short := claim("alice", "long", 1), claim("alice", "short", 1)
		short.Lease = time.Second
		for _, c := range []ambit.Claim{long, short} {
			if _, err := m.Claim(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Second)
		if got, _ := m.Claim(t.Context(), long); got.State != ambit.RecordRunning {
			t.Errorf("want it running, got %+v", got)
		}
		if got, _ := m.Claim(t.Context(), short); got.State != ambit.RecordFree {
			t.Errorf("want it free, got %+v", got)
		}
	})
}

func TestImpossibleOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []idempotency.Options{{Keep: -1}, {Records: -1}, {Bytes: -1}, {Outcome: -1}} {
		m := idempotency.NewMemory(o)
		if _, err := m.Ready(); err == nil {
			t.Errorf("%+v: want it refused at the start", o)
		}
		if _, err := m.Claim(t.Context(), claim("alice", "k", 1)); err == nil {
			t.Errorf("%+v: want no claim", o)
		}
	}
	notice, err := idempotency.NewMemory(idempotency.Options{}).Ready()
	if err != nil || !strings.Contains(notice, "this process only") {
		t.Errorf("want to be told, got %q, %v", notice, err)
	}
}
