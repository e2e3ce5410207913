package postgres_test

import (
	"sync"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
)

// Destructive calls that are confirmed, or approved by a person, while the server
// is restarted again and again are unavailable meanwhile and work again by
// themselves. None runs twice, and what became of each is what the audit says.
func TestT17_ApprovedCallsOutlastARestart(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	address, _, err := server.Database(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	a := newAsked(t, open(t, address, postgres.Options{}))
	w := a.workload(t, 3)
	var held sync.WaitGroup // calls that end while the server is away
	for _, c := range []*ambit.Contract[note, note]{a.confirmed, a.purge} {
		held.Go(func() { w.carryOut(&operation{contract: c, text: c.Name() + " held"}) })
		<-a.held
	}
	for round := range 3 {
		w.more(t, "")
		if err := server.Halt(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.more(t, ambit.CodeUnavailable)
		if round == 0 {
			close(a.away)
			held.Wait()
		}
		if err := server.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.more(t, "")
	w.more(t, ambit.CodeUpstream)
	mixed(t, w.check(t))
}
