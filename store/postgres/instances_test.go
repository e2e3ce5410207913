package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/postgrestest"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/storetest"
	"github.com/ambit-dev/ambit/trust/approval"
)

// instance is one of several of an application with one database.
type instance struct {
	t         *testing.T
	app       *ambit.App
	store     *postgres.Store
	approvals *approval.Approvals
	write     *ambit.Contract[note, note]
	purge     *ambit.Contract[note, note]
}

type note struct {
	Text string `json:"text"`
}

// runs counts how often the handlers of all instances ran, by text.
type runs struct {
	mu sync.Mutex
	of map[string]int
}

func (r *runs) count(_ context.Context, in note) (note, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[in.Text]++
	return in, nil
}

func (r *runs) get(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[text]
}

func newInstance(t *testing.T, address string, ran *runs) *instance {
	t.Helper()
	in := &instance{t: t, store: open(t, address, postgres.Options{})}
	quiet := slog.New(slog.DiscardHandler)
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{5}, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	if in.approvals, err = approval.New(in.store, approval.Options{Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.approvals.Close(context.Background()) })
	in.app = ambit.New(ambit.Options{Name: "notes", Keys: ring, Approver: in.approvals, Logger: quiet, Limits: ambit.Limits{InFlight: ambit.Unlimited, Rate: ambit.Rate{Calls: ambit.Unlimited}}})
	spec := func(name string, effect ambit.Effect, level ambit.Approval) ambit.Spec {
		return ambit.Spec{Name: name, Description: "Does it.", Effect: effect, Permission: "notes", Approval: level, Expose: ambit.HTTP}
	}
	in.write = ambit.NewContract[note, note](spec("notes.write", ambit.Write, ambit.ApprovalUnset))
	in.purge = ambit.NewContract[note, note](spec("notes.purge", ambit.Destructive, ambit.Human))
	in.app.Add(in.write.Bind(ran.count), in.purge.Bind(ran.count))
	return in
}

// call makes a call of robot.
func (in *instance) call(c *ambit.Contract[note, note], text, key string) (note, error) {
	if key == "" {
		return in.callWith(c, text)
	}
	return in.callWith(c, text, ambit.WithIdempotencyKey(key))
}

func (in *instance) callWith(c *ambit.Contract[note, note], text string, options ...ambit.CallOption) (note, error) {
	ctx, run := in.app.NewRun(in.t.Context(), ambit.RunOptions{
		Surface:   ambit.HTTP,
		Principal: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot", Permissions: []string{"notes"}},
	})
	defer run.End()
	return c.Call(ctx, note{text}, options...)
}

// code returns the code of a call's error, "" for none.
func code(err error) ambit.Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*ambit.Error](err); ok {
		return e.Code
	}
	return ambit.Code(err.Error())
}

// What one instance has prepared is decided on another and committed on either,
// once.
func TestT17_TwoInstances(t *testing.T) {
	t.Parallel()
	address, ran := database(t, false), &runs{of: map[string]int{}}
	one, two := newInstance(t, address, ran), newInstance(t, address, ran)
	for i, commits := range []*instance{one, two} {
		text := fmt.Sprint("note ", i)
		_, err := one.call(one.purge, text, "")
		failure, ok := errors.AsType[*ambit.Error](err)
		if !ok || failure.Code != ambit.CodeApprovalPending || failure.Approval == nil {
			t.Fatalf("want the call to wait for a person, got %v", err)
		}
		if _, err := two.call(two.purge, text, ""); code(err) != ambit.CodeApprovalPending {
			t.Errorf("on the other instance: want the call to wait too, got %v", err)
		}
		ann := &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "ann", Permissions: []string{ambit.DefaultDecidePermission}}
		view, err := two.approvals.View(t.Context(), two.app, ann, failure.Approval.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := two.approvals.Decide(t.Context(), two.app, ann, approval.Ruling{ID: failure.Approval.ID, Verdict: approval.Approve, Preview: view.Seen()}); err != nil {
			t.Fatal(err)
		}
		if got, err := commits.call(commits.purge, text, ""); err != nil || got.Text != text {
			t.Errorf("want the call done, got %v, %v", got, err)
		}
		for _, each := range []*instance{one, two} {
			if got, err := each.call(each.purge, text, ""); err != nil || got.Text != text {
				t.Errorf("repeated: want the answer again, got %v, %v", got, err)
			}
		}
		if n := ran.get(text); n != 1 {
			t.Errorf("want it to run once, it ran %d times", n)
		}
	}
}

// load makes keyed calls by several callers until it is stopped, each key until it
// is settled, and counts what they were answered.
type load struct {
	answers sync.Map // ambit.Code -> *atomic.Int64
	settled atomic.Int64
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func (in *instance) load(t *testing.T, ran *runs) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel}
	for range 8 {
		l.done.Go(func() {
			for ctx.Err() == nil {
				key := rand.Text()
				for {
					_, err := in.call(in.write, key, key)
					n, _ := l.answers.LoadOrStore(code(err), new(atomic.Int64))
					n.(*atomic.Int64).Add(1)
					if err == nil || code(err) == ambit.CodeConflict || ctx.Err() != nil {
						break // done, or interrupted: nobody can tell
					}
				}
				if n := ran.get(key); n > 1 {
					t.Errorf("a call ran %d times", n)
				}
				l.settled.Add(1)
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

func (l *load) end() {
	l.stop()
	l.done.Wait()
}

func (l *load) count(c ambit.Code) int64 {
	n, ok := l.answers.Load(c)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// wait waits until something is so.
func wait(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// more waits until calls have been answered with a code once more.
func (l *load) more(t *testing.T, c ambit.Code) {
	t.Helper()
	before := l.count(c)
	wait(t, func() bool { return l.count(c) > before+20 })
}

// known checks that calls were answered with these codes and no others.
func (l *load) known(t *testing.T, codes ...ambit.Code) {
	t.Helper()
	l.end()
	for _, c := range codes {
		l.answers.Delete(c)
	}
	l.answers.Range(func(c, n any) bool {
		t.Errorf("%d calls were answered with %q", n.(*atomic.Int64).Load(), c)
		return true
	})
}

// A server that is restarted under load makes calls unavailable and no more: they
// work again when it does, and nothing runs twice.
func TestRestart(t *testing.T) {
	t.Parallel()
	start(t) // or skip
	c, err := postgrestest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if !c.Own() {
		t.Skip("the server is not the test's own")
	}
	address, _, err := c.Database(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	ran := &runs{of: map[string]int{}}
	in := newInstance(t, address, ran)
	l := in.load(t, ran)
	l.more(t, "")
	if err := c.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.more(t, ambit.CodeUnavailable)
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.more(t, "")
	l.known(t, "", ambit.CodeUnavailable, ambit.CodeConflict)
}

// A server that cannot be reached any more, without a word, makes calls
// unavailable and no more.
func TestCutOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for connections to be given up")
	}
	n, address := through(t, database(t, false))
	ran := &runs{of: map[string]int{}}
	in := newInstance(t, address, ran)
	l := in.load(t, ran)
	l.more(t, "")
	n.cut()
	wait(t, func() bool { return l.count(ambit.CodeUnavailable) >= 8 })
	n.restore()
	l.more(t, "")
	l.known(t, "", ambit.CodeUnavailable, ambit.CodeConflict)
}

// Of two instances under load, one is cut off from the store.
func TestT23_CutOffFromTheSwitch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the lease of the halt switch")
	}
	address := database(t, false)
	n, by := through(t, address)
	storetest.RunCutOff(t, storetest.CutOff{
		Near: open(t, address, postgres.Options{}).Halts(), Far: open(t, by, postgres.Options{}).Halts(),
		Cut: n.cut, Restore: n.restore,
	})
}

// What can be no id or name is not there: it is no failure of the database, which
// takes no such text.
func TestTextThatIsNoID(t *testing.T) {
	t.Parallel()
	in := newInstance(t, database(t, false), &runs{of: map[string]int{}})
	ann := &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "ann", Permissions: []string{ambit.DefaultDecidePermission}}
	for _, text := range []string{"\xff", "a\x00", "é"} {
		_, proposal := in.approvals.View(t.Context(), in.app, ann, text)
		_, grant := in.approvals.Grant(t.Context(), in.app, ann, text)
		if code(proposal) != ambit.CodeNotFound || code(grant) != ambit.CodeNotFound {
			t.Errorf("%q: want %s, got %v and %v", text, ambit.CodeNotFound, proposal, grant)
		}
		for _, f := range []approval.GrantFilter{{Principal: text}, {Capability: text}} {
			if list, _, err := in.approvals.Grants(t.Context(), in.app, ann, f); err != nil || len(list) != 0 {
				t.Errorf("grants of %q: want none, got %v, %v", text, list, err)
			}
		}
		for _, f := range []approval.Filter{{Requester: text}, {Capability: text}} {
			if list, _, err := in.approvals.List(t.Context(), in.app, ann, f); err != nil || len(list) != 0 {
				t.Errorf("proposals of %q: want none, got %v, %v", text, list, err)
			}
		}
	}
	_, _, proposals := in.approvals.List(t.Context(), in.app, ann, approval.Filter{After: "nonsense"})
	_, _, grants := in.approvals.Grants(t.Context(), in.app, ann, approval.GrantFilter{After: "nonsense"})
	if code(proposals) != ambit.CodeInvalidInput || code(grants) != ambit.CodeInvalidInput {
		t.Errorf("a cursor that is none: want %s, got %v and %v", ambit.CodeInvalidInput, proposals, grants)
	}
}
