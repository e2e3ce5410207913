package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Destructive calls that are confirmed, or approved by a person, while the server
// cannot be reached and nobody is told, or while it can be and nobody hears what it
// answers: what was prepared before is unavailable meanwhile and has not run,
// whoever confirms or repeats it, and works by itself afterwards, or is unknown. What
// the server gets to hear late runs nothing twice.
func TestT17_ApprovedCallsOutlastACutOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for connections to be given up")
	}
	for name, cut := range map[string]func(*network){"both ways": (*network).cut, "the way back": (*network).cutBack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, address := through(t, database(t, false))
			var asking atomic.Bool // whether the server is there, before each use of a connection
			store, pool := onPool(t, address, func(c *pgxpool.Config) {
				c.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool {
					return asking.Load() || p.IdleDuration > time.Second
				}
			})
			mute := func() { // what ends from now on is not heard late either, as it finds no connection that it can be sent on
				wait(t, func() bool { return pool.Stat().IdleConns() == 0 })
				asking.Store(true)
			}
			outlastCutOff(t, newAsked(t, store), func() { cut(n) }, mute, n.restore)
		})
	}
}

// onPool returns a store on a pool with settings of its own.
func onPool(t *testing.T, address string, set func(*pgxpool.Config)) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	set(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store, pool
}

func outlastCutOff(t *testing.T, a *asked, cut, mute, restore func()) {
	t.Helper()
	w := a.workload(t, 3)
	w.more(t, "")
	var held sync.WaitGroup // calls that end while the server cannot be reached
	var before []*operation // prepared, and approved where a person has to
	for _, c := range []*ambit.Contract[note, note]{a.confirmed, a.purge} {
		held.Go(func() { w.carryOut(&operation{contract: c, text: c.Name() + " held"}) })
		<-a.held
		for i := range 8 {
			o := &operation{contract: c, text: fmt.Sprint(c.Name(), " before ", i)}
			if failure := w.try(o); failure == nil || failure.Approval == nil {
				t.Fatalf("%s: want it to wait for a word, got %v", o.text, failure)
			}
			if c == a.purge {
				w.approve(o.id)
			}
			before = append(before, o)
		}
	}
	cut()
	var during sync.WaitGroup
	for i, o := range before {
		if i%2 == 0 { // the others are left for afterwards
			during.Go(func() {
				failure := w.try(o)
				if o.answer != ambit.CodeUnavailable || failure.Executed != ambit.ExecutedNo || a.ran.get(o.text) != 0 {
					t.Errorf("%s, cut off: want it unavailable and not executed, got %v, run %d times", o.text, failure, a.ran.get(o.text))
				}
			})
		}
	}
	mute()
	close(a.away)
	during.Wait()
	held.Wait()
	restore()
	for i, o := range before {
		during.Go(func() {
			w.carryOut(o)
			if i%2 == 1 && o.answer != "" {
				t.Errorf("%s, prepared before and made afterwards: want it done, got %q", o.text, o.answer)
			}
		})
	}
	during.Wait()
	w.more(t, "")
	w.more(t, ambit.CodeUpstream)
	mixed(t, w.check(t))
}

// A claim that the server has made, and of which nobody heard before the network
// was cut off, is the call's no more: it has not run, nothing can take the claim
// back, and so a person has to settle it.
func TestT17_ClaimThatNobodyHeardOf(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for connections to be given up")
	}
	straight := database(t, false)
	n, address := through(t, straight)
	// One connection, which knows the statements after the first call, and is used
	// without asking first whether the server is there.
	store, _ := onPool(t, address, func(c *pgxpool.Config) {
		c.MaxConns, c.ShouldPing = 1, func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	})
	a := newAsked(t, store)
	w := a.workload(t, 0)
	w.carryOut(&operation{contract: a.confirmed, text: "before"})
	o := &operation{contract: a.confirmed, text: "cut off"}
	w.try(o)
	<-a.swept
	if err := a.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.cutBack() // with the connection free for the claim
	if failure := w.try(o); o.answer != ambit.CodeUnavailable || failure.Executed != ambit.ExecutedNo {
		t.Errorf("cut off: want it unavailable and not executed, got %v", failure)
	}
	server := open(t, straight, postgres.Options{})
	wait(t, func() bool { // until the server has come to it
		r, err := server.Get(t.Context(), "acme", o.id)
		return err != nil || r.State == ambit.ProposalExecuting
	})
	n.restore()
	w.carryOut(o)
	if o.answer != ambit.CodeConflict || a.ran.get(o.text) != 0 {
		t.Errorf("afterwards: want a conflict, got %q, run %d times", o.answer, a.ran.get(o.text))
	}
	if states := w.check(t); states[ambit.ProposalUnknown] != 1 || states[ambit.ProposalSucceeded] != 1 {
		t.Errorf("want one call done and one unknown, got %v", states)
	}
	ann := &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "ann", Permissions: []string{ambit.DefaultDecidePermission}}
	if r, err := a.approvals.Decide(t.Context(), a.app, ann, approval.Ruling{ID: o.id, Verdict: approval.SettleFailed}); err != nil || r.State != ambit.ProposalFailed {
		t.Errorf("settle it: got it %s, %v", r.State, err)
	}
}
