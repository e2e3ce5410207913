package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// RunKilled makes calls that have to happen once in processes of their own, which
// are killed, 126 in all, at each step of preparing, deciding, claiming, executing and
// finishing, and while they are at it. The calls are confirmed by their caller,
// approved by one person and by two, and have an idempotency key and nothing
// else, as a write and as what goes on record before it runs; one in five fails.
// Each step is tried with one process, and with three that make the same call at
// the same time: of them the first that comes to the step is killed, and the others
// repeat the call until they know what became of it.
//
// No call runs twice and none is lost: it can be carried out, or has ended, or is
// unknown until a person settles it, with a key alone until that expires. Who
// repeats a call waits for the dead no longer than a lease. And the audit record is
// whole. The program's TestMain calls [Child].
func RunKilled(t *testing.T, l Lives) {
	k := newKilling(t, l)
	for _, together := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d at once", together), func(t *testing.T) {
			crew := newCrew(t, l, k.journal, together)
			defer crew.close()
			if err := crew.fill(); err != nil {
				t.Fatal(err)
			}
			for _, kind := range kinds() {
				t.Run(kind.name, func(t *testing.T) {
					for i, d := range deaths(kind) {
						if testing.Short() && i%5 != 0 {
							continue
						}
						k.number++
						k.kill(t, crew, job{kind, k.number}, d)
					}
				})
				if t.Failed() { // of a crew that is out of step nothing can be learned
					return
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	k.verify(t)
	k.expire(t)
}

// death is where a process is killed: at a point, or while it does what comes
// after it. What may be left is what was before or what is after.
type death struct {
	point string
	while bool
	left  []remains
}

// deaths are all of a kind of call.
func deaths(k kind) (all []death) {
	before := nothing()
	for _, s := range k.steps {
		all = append(
			all,
			death{"before " + s.name, false, []remains{before}},
			death{"before " + s.name, true, []remains{before, s.leaves}},
			death{"after " + s.name, false, []remains{s.leaves}},
		)
		before = s.leaves
	}
	return all
}

// killing is the test, and the process in which it looks at what is left.
type killing struct {
	lives   Lives
	journal string
	store   ApprovalsAndAudit
	looker  *looker
	works   *works
	ahead   time.Duration // of the store's clock
	number  int           // of the call

	interrupted int   // calls that the record has begun and not ended, and that nobody has settled
	unsettled   []job // with a key alone, of which nobody can tell
}

func newKilling(t *testing.T, l Lives) *killing {
	k := &killing{lives: l, journal: filepath.Join(t.TempDir(), "journal")}
	store, closed, err := l.Open(t.Context(), l.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closed)
	k.store, k.looker = store, &looker{ApprovalsAndAudit: store}
	if k.works, err = newWorks(k.looker, k.journal, func(string) {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.works.close(context.Background()) })
	return k
}

// kill lets a crew make a call, kills one of it, and looks at what is left.
func (k *killing) kill(t *testing.T, crew *crew, j job, d death) {
	t.Helper()
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, killed %s (while it went on: %t): %s", j, d.point, d.while, fmt.Sprintf(format, args...))
	}
	r := round{crew: crew, job: j, death: d, ahead: k.ahead}
	if err := r.run(); err != nil {
		t.Fatalf("%s, killed %s (while it went on: %t): %v", j, d.point, d.while, err)
	}
	k.advance(r.ahead - k.ahead)
	left := k.left(t, j)
	if alone := len(crew.children) == 1; alone && !slices.Contains(d.left, left) {
		fault("want one of %v left, got %v", d.left, left)
	}
	if left.state == "executing" {
		k.advance(workLease)
		left = k.left(t, j)
	}
	if left.state == "executing" {
		t.Fatalf("%s, killed %s: a lease later it is still running", j, d.point)
	}
	unknown, want := left.state == "unknown", "done"
	switch {
	case unknown:
		want = "conflict, executed: unknown, "
	case j.fails():
		want = "upstream, executed: unknown, "
	}
	answers := append(r.answers, answerOf(k.works.carryOut(t.Context(), j, r.token)))
	for _, got := range answers {
		if !strings.HasPrefix(got, want) {
			fault("it is %s: want everybody answered %q, got %q", left.state, want, answers)
			break
		}
	}
	if unknown {
		k.settle(t, j, left.executed > 0)
	}
	end := "ended"
	if unknown && !j.kind.asks() {
		end = "unknown"
	}
	now := k.left(t, j)
	if now.state != end || now.executed != 1 && !(unknown && now == (remains{end, left.executed})) {
		fault("it was %s: want it %s in the end and executed once, got it %s and %d times", left.state, end, now.state, now.executed)
	}
}

// settle has a person say what became of a call that nobody knows of. One with a
// key alone is nobody's.
func (k *killing) settle(t *testing.T, j job, executed bool) {
	t.Helper()
	if !j.kind.asks() {
		if j.kind.effect > ambit.Write {
			k.interrupted++
		}
		k.unsettled = append(k.unsettled, j)
		return
	}
	verdict := approval.SettleFailed
	if executed {
		verdict = approval.SettleSucceeded
	}
	page := k.proposals(t, j)
	if failure := k.works.rule(t.Context(), "carol", page[0].ID, verdict); failure != nil {
		t.Errorf("%s: settle it: %v", j, failure)
	}
}

// advance sets the clocks of the test and of what it starts ahead.
func (k *killing) advance(by time.Duration) {
	k.ahead += by
	k.lives.Advance(k.store, by)
}

// left returns what is left of a call.
func (k *killing) left(t *testing.T, j job) (left remains) {
	t.Helper()
	var err error
	if left.executed, err = executions(k.journal, j); err != nil {
		t.Fatal(err)
	}
	if !j.kind.asks() {
		left.state = k.looker.look(t, k.works, j)
		return left
	}
	page := k.proposals(t, j)
	switch len(page) {
	case 0:
		left.state = nothing().state
	case 1:
		left.state = page[0].State.String()
	default:
		left.state = fmt.Sprintf("%d proposals", len(page))
	}
	if left.state == "succeeded" || left.state == "failed" {
		left.state = "ended"
	}
	return left
}

// proposals returns those of a call.
func (k *killing) proposals(t *testing.T, j job) []approval.Record {
	t.Helper()
	page, _, err := k.store.List(t.Context(), approval.Filter{Tenant: "works", Requester: j.caller().Key()})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// looker is a store by which a call with a key can be looked at: it is made, and
// ends before it has begun.
type looker struct {
	ApprovalsAndAudit
	looking bool
	found   *ambit.Record // nil: nobody has looked
}

// Find looks.
func (l *looker) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	r, err := l.ApprovalsAndAudit.Find(ctx, c)
	if err == nil && l.looking {
		l.found, err = &r, errors.New("it is only looked at")
	}
	return r, err
}

// look returns how far the record of a call with a key has come.
func (l *looker) look(t *testing.T, w *works, j job) string {
	t.Helper()
	l.looking, l.found = true, nil
	failure := w.call(t.Context(), j, "")
	l.looking = false
	if l.found == nil {
		t.Fatalf("%s could not be looked at: %v", j, failure)
	}
	switch l.found.State {
	case ambit.RecordFree:
		return nothing().state
	case ambit.RecordRunning:
		return "executing"
	case ambit.RecordFinished:
		return "ended"
	}
	return "unknown"
}

// verify looks at the record of all that happened.
func (k *killing) verify(t *testing.T) {
	t.Helper()
	if err := k.works.log.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	report, err := k.works.log.Verify(t.Context(), "works", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) > 0 || len(report.Open) != k.interrupted || k.interrupted == 0 {
		t.Errorf("the audit record is not whole: of %d calls that were interrupted and not settled it has %d, findings %v", k.interrupted, len(report.Open), report.Findings)
	}
}

// expire lets the keys expire of calls that nobody knows of: whoever makes such a
// call again under its key makes another one.
func (k *killing) expire(t *testing.T) {
	t.Helper()
	if len(k.unsettled) == 0 {
		t.Error("want calls with a key alone that nobody knows of, got none")
	}
	k.advance(24 * time.Hour)
	for _, j := range k.unsettled {
		before := k.left(t, j)
		failure := k.works.carryOut(t.Context(), j, "")
		want := remains{"ended", before.executed + 1}
		if now := k.left(t, j); before.state != "none" || now != want || (failure != nil) != j.fails() {
			t.Errorf("%s, whose key has expired: it was %v, want %v after it was made again, got %v, answered %s", j, before, want, now, answerOf(failure))
		}
	}
}

// killAfter is the longest time after which a process is killed while it does
// something.
const killAfter = 3 * time.Millisecond

func somewhen() time.Duration { return time.Duration(rand.Int64N(int64(killAfter))) }
