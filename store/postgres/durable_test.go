package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/postgrestest"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// ownServer starts a server that a test may stop.
func ownServer(t *testing.T) *postgrestest.Cluster {
	t.Helper()
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
	return c
}

// restart stops a server as a crash would, and starts it again.
func restart(t *testing.T, c *postgrestest.Cluster) {
	t.Helper()
	if err := c.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What the store has said is done outlasts a crash of the server, also where the
// database is set up to confirm what is not on disk yet.
func TestT17_CommittedIsOnDisk(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	address, _, err := server.Database(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	address += "&options=-c%20synchronous_commit%3Doff"
	s := open(t, address, postgres.Options{})
	pool := connect(t, address)
	for _, statement := range []string{"ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()"} {
		if _, err := pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	ctx, c := t.Context(), keyed()
	p := ambit.Proposal{
		Binding: ambit.Binding{Tenant: "acme", Principal: "4:acme/6:apikey/robot", Capability: "notes.purge"}, Level: ambit.Human, Quorum: 1,
		Requester: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot"}, DecideWithin: time.Hour, ExecuteWithin: time.Hour,
	}
	until := time.Now().Add(time.Hour)
	entry := audit.Entry{Tenant: "acme", Writer: "w", Seq: 1, Time: time.Now(), Kind: "call", Body: []byte("{}"), MAC: []byte{1}}
	key := apikey.Record{Name: "robot", Hash: strings.Repeat("0", 64), Created: time.Now()}
	for _, step := range []struct {
		name  string
		do    func() error
		there func(*postgres.Store) (bool, error)
	}{
		{"a claim", func() error { _, err := s.Claim(ctx, c); return err }, func(s *postgres.Store) (bool, error) {
			r, err := s.Find(ctx, c)
			return r.State == ambit.RecordRunning, err
		}},
		{"an outcome", func() error { return s.Finish(ctx, c, ambit.Ending{Outcome: []byte("done")}) }, func(s *postgres.Store) (bool, error) {
			r, err := s.Find(ctx, c)
			return r.State == ambit.RecordFinished, err
		}},
		{"a question", func() error { _, _, err := s.Propose(ctx, "q", p, approval.Caps{}, nil); return err }, func(s *postgres.Store) (bool, error) {
			_, err := s.Get(ctx, "acme", "q")
			return err == nil, nil
		}},
		{"a decision", func() error {
			_, _, err := s.Decide(ctx, "acme", "q", approval.Decision{Decider: "4:acme/5:login/ann", Verdict: approval.Approve}, nil)
			return err
		}, func(s *postgres.Store) (bool, error) {
			r, err := s.Get(ctx, "acme", "q")
			return r.State == ambit.ProposalApproved, err
		}},
		{"an entry", func() error { return s.Append(ctx, entry) }, func(s *postgres.Store) (bool, error) {
			page, _, err := s.Entries(ctx, audit.Query{Tenant: "acme"})
			return len(page) == 1, err
		}},
		{"a nonce", func() error { _, err := s.Nonces().Record(ctx, "a", "1", until); return err }, func(s *postgres.Store) (bool, error) {
			fresh, err := s.Nonces().Record(ctx, "a", "1", until)
			return !fresh, err
		}},
		{"a halt", func() error { return s.Halts().Halt(ctx, ambit.Halt{Kind: ambit.HaltAll}) }, func(s *postgres.Store) (bool, error) {
			halts, err := s.Halts().Read(ctx)
			return len(halts) == 1, err
		}},
		{"an API key", func() error { return s.Keys().Add(ctx, key) }, func(s *postgres.Store) (bool, error) {
			_, found, err := s.Keys().ByName(ctx, "robot")
			return found, err
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		restart(t, server)
		s.Close()
		s = open(t, address, postgres.Options{})
		if there, err := step.there(s); err != nil || !there {
			t.Errorf("%s is gone after a crash, %v", step.name, err)
		}
	}
}

// Calls that are at work while the server is restarted end as they ended: the
// connections that the store has from before are no reason not to know.
func TestT17_OutcomesOutlastARestart(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	address, _, err := server.Database(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, address, postgres.Options{})
	claims := make([]ambit.Claim, 8)
	for i := range claims {
		claims[i] = keyed()
	}
	each := func(do func(int, ambit.Claim) error) {
		t.Helper()
		done := make(chan error)
		for i, c := range claims { // all at once, so that there are as many connections
			go func() { done <- do(i, c) }()
		}
		for range claims {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	each(func(_ int, c ambit.Claim) error { _, err := s.Claim(t.Context(), c); return err })
	restart(t, server)
	each(func(i int, c ambit.Claim) error {
		if i%2 == 0 {
			return s.Release(t.Context(), c)
		}
		return s.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("done")})
	})
	for i, c := range claims {
		want := ambit.RecordFree
		if i%2 == 1 {
			want = ambit.RecordFinished
		}
		if r, err := s.Find(t.Context(), c); err != nil || r.State != want {
			t.Errorf("claim %d: want state %d, got %d, %v", i, want, r.State, err)
		}
	}
}
